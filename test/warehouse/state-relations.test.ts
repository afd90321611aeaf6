import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { Database } from '../../src/sql/database.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { stateViews } from '../../src/warehouse/query/state-relations.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { items } from './tables.ts';
import { commitItems, freshPath, openTestStore, queryFile } from './warehouses.ts';

describe.each(['w', 'w.duckdb'])('SQL over %s', (name) => {
  const warehouse = join(freshFolder(), name);
  const bring = (range: string) => run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse });

  const askFile = (sql: string) => queryFile(warehouse, sql);

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
    expect(await askFile(missing)).toEqual([
      ['proven', null, 1000n, 1009n, 10n],
      ['missing', 'not exported', 1010n, 1019n, 10n],
      ['proven', null, 1020n, 1024n, 5n],
    ]);
    const behind = "select mart, commits_behind from _freshness where built_at > '2020-01-01'";
    expect(await ask(behind)).toEqual([{ mart: 'transactions_daily', commits_behind: 0n }]);
    expect(await askFile(behind)).toEqual([['transactions_daily', 0n]]);
    await bring('1010:1019');
    expect(await askFile("select count(*) from _coverage where state = 'missing'")).toEqual([[0n]]);
    expect(await askFile('select commits_behind > 0 from _freshness')).toEqual([[true]]);
    expect(await ask("select count(*) as n from _coverage where state = 'missing'")).toEqual([{ n: 0n }]);
    const { code, stdout } = await tonlake(['sql', behind, '--format', 'csv', '--warehouse', warehouse]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^mart,commits_behind\ntransactions_daily,[1-9]\d*\n$/)]);
    await forgetRange({ warehouse, pipelines: ['transactions'], range: '1020:1024' });
    const gone =
      "select distinct state, reason, span_from, span_to from _coverage where relation = 'messages' and state <> 'proven'";
    expect(await askFile(gone)).toEqual([['missing', 'forgotten', 1020n, 1024n]]);
  });
});

test('a DuckDB file writes them at most a twentieth of the time, at once when rows leave, and in the end', async () => {
  const path = freshPath('duckdb');
  let now = 0;
  // Each look at the clock takes a second, and each writing of the views so long.
  const effects: Effects = { ...realEffects, monotonic: () => (now += 1000) };
  const pipeline = { name: 'items', version: 1, tables: [items], walk: { kind: 'window' } } as unknown as PipelineDef;
  let fails = false;
  const onStep = async (step: string): Promise<void> => {
    if (fails && step === 'commit') throw new Error('no commit');
  };
  const store = await openTestStore(path, { effects, pipelines: [pipeline], onStep });
  const shown = async () => {
    const { rows } = await store.query("select max(span_to)::INTEGER from _coverage where relation = 'items'");
    return rows[0]?.[0];
  };
  const first = await commitItems(store, 0, 9);
  expect(await shown()).toBe(9);
  await commitItems(store, 10, 19);
  expect(await shown()).toBe(9);
  now += 20_000;
  await commitItems(store, 20, 29);
  expect(await shown()).toBe(29);
  await commitItems(store, 0, 9, { supersedes: [first.id] });
  await commitItems(store, 30, 39);
  expect(await shown()).toBe(29);
  now += 20_000;
  fails = true;
  await expect(commitItems(store, 40, 49)).rejects.toThrow('no commit');
  await store.close();
  expect(await queryFile(path, 'select max(span_to)::INTEGER from _coverage')).toEqual([[39]]);
});

test('20,000 entries are one range of each table, in a view of a few kilobytes', async () => {
  const registry = await loadRegistry();
  const entryOf = (at: number): LedgerEntry => ({
    format: 1,
    verdict: 'accepted',
    ...{ number: at + 1, id: String(at), network: 'sandbox', pipeline: 'transactions', version: 1, tables: {} },
    ...{ span: { from: 10 * at + 1, to: 10 * at + 10 }, requests: 1, retries: 0, supersedes: [] },
    committedAt: '2026-05-01T00:00:00.000Z',
  });
  const ledger = Array.from({ length: 20_000 }, (_, at) => entryOf(at));
  const [view = ''] = stateViews({ registry, ledger, forgotten: [] });
  expect(view.length).toBeLessThan(2_000);
  const database = await Database.open(':memory:');
  await database.run(view);
  const { rows } = await database.query('select relation, span_from, span_to from _coverage order by relation');
  expect(rows).toEqual(['account_states', 'messages', 'transactions'].map((table) => [table, 1n, 200_000n]));
  database.close();
});
