import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf } from './support.ts';

describe.each(['w', 'w.duckdb'])('a mart of %s', (name) => {
  let built: string;
  /** A copy of it. */
  let warehouse: string;
  const bring = (range: string) => run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse });
  const build = () => buildMarts(warehouse, { names: ['accounts', 'latest_balances', 'transactions_daily'] });

  beforeAll(async () => {
    warehouse = join(freshFolder(), name);
    await bring('1000:1009');
    await build();
    built = warehouse;
  });
  beforeEach(async () => {
    warehouse = await copyOf(built);
  });

  async function lacksOf(sql: string): Promise<readonly string[]> {
    const lacks: string[] = [];
    const opened = await open({ warehouse, onWarning: (line) => lacks.push(line) });
    await opened.query(sql);
    await opened.close();
    return lacks;
  }

  async function staleOf(): Promise<readonly string[]> {
    const { marts } = await readStatus(warehouse);
    return marts.filter(({ behind }) => behind !== undefined).map(({ mart }) => mart);
  }

  test('is current when it is built, and stale after a commit of what it reads', async () => {
    expect([await lacksOf('from accounts'), await staleOf()]).toEqual([[], []]);
    await bring('1010:1019');
    const stale = 'stale, built 1 commit ago: tonlake build';
    expect(await lacksOf('from accounts')).toEqual([`accounts: ${stale} accounts`]);
    expect(await lacksOf("from transactions_daily where block_date = '2026-05-01'")).toContain(
      `transactions_daily: ${stale} transactions_daily`,
    );
    expect(await staleOf()).toEqual(['accounts', 'balances_history', 'latest_balances', 'transactions_daily']);
    const strict = await tonlake(['sql', 'select count(*) from accounts', '--strict', '--warehouse', warehouse]);
    expect(strict).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('accounts: stale') });
    await build();
    expect([await lacksOf('from accounts'), await staleOf()]).toEqual([[], []]);
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('is stale after rows that it counts were removed, but keeps the days that it is built by', async () => {
    await forgetRange({ warehouse, pipelines: ['transactions'], range: '1005:1009' });
    expect(await lacksOf('from accounts')).toEqual(['accounts: stale, built 1 commit ago: tonlake build accounts']);
    expect(await staleOf()).toEqual(['accounts']);
  });

  test('stays current when files of what it reads are merged', async () => {
    await bring('1010:1019');
    await build();
    await tonlake(['compact', '--warehouse', warehouse]);
    expect(await staleOf()).toEqual([]);
    await bring('1020:1024');
    await tonlake(['compact', '--warehouse', warehouse]);
    expect(await staleOf()).toEqual(['accounts', 'balances_history', 'latest_balances', 'transactions_daily']);
  });
});
