import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

describe.each(['w', 'w.duckdb'])('SQL over %s', (name) => {
  const warehouse = join(freshFolder(), name);
  const bring = (range: string) => run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse });

  async function ask(sql: string): Promise<readonly unknown[]> {
    const lake = await open({ warehouse, onWarning: () => undefined });
    return lake.query(sql).finally(() => lake.close());
  }

  test('says what is proven and missing of each table, and which marts are stale', { timeout: 240_000 }, async () => {
    await bring('1000:1009');
    await bring('1020:1024');
    await buildMarts(warehouse, { names: ['transactions_daily'] });
    const missing =
      "select state, reason, span_from, span_to, blocks from _coverage where relation = 'messages' order by 3";
    expect(await ask(missing)).toEqual([
      { state: 'proven', reason: null, span_from: 1000n, span_to: 1009n, blocks: 10n },
      { state: 'missing', reason: 'not exported', span_from: 1010n, span_to: 1019n, blocks: 10n },
      { state: 'proven', reason: null, span_from: 1020n, span_to: 1024n, blocks: 5n },
    ]);
    const behind = "select mart, commits_behind from _freshness where built_at > '2020-01-01'";
    expect(await ask(behind)).toEqual([{ mart: 'transactions_daily', commits_behind: 0n }]);
    await bring('1010:1019');
    expect(await ask("select count(*) as n from _coverage where state = 'missing'")).toEqual([{ n: 0n }]);
    const { code, stdout } = await tonlake(['sql', behind, '--format', 'csv', '--warehouse', warehouse]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^mart,commits_behind\ntransactions_daily,[1-9]\d*\n$/)]);
  });
});
