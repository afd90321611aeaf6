import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry, type Registry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { countPromised, readHeaders, storeSink } from '../../src/export/store-sink.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import type { Query } from '../../src/sql/query-result.ts';
import { openStore } from '../../src/warehouse/open-store.ts';
import { freshFolder } from '../scratch.ts';

const BLOCKS = [1000, 1002, 1004, 1005, 1006];
let sandbox: Sandbox;
let registry: Registry;

beforeAll(async () => {
  sandbox = await startSandbox();
  registry = await loadRegistry();
});
afterAll(() => sandbox.close());

test.each(['w', 'w.duckdb'])(
  'headers and transactions of some blocks of %s are read from the files of these alone',
  async (name) => {
    const warehouse = join(freshFolder(), name);
    // Each in an entry of its own.
    for (const block of BLOCKS) {
      await run({ pipelines: ['transactions'], network: sandbox.url, range: String(block), warehouse });
    }
    const { tables } = registry;
    const store = await openStore({
      path: warehouse,
      network: sandbox.url,
      tables,
      pipelines: [],
      effects: realEffects,
    });
    const statements: string[] = [];
    const query: Query = (sql, parameters) => {
      statements.push(sql);
      return store.query(sql, parameters);
    };
    const sink = storeSink({ ...store, query, ledger: () => store.ledger(), rows: store.rows }, registry);
    const headers = await sink.headers({ from: 1003, to: 1005 });
    expect([...headers.keys()]).toEqual([1004, 1005]);
    expect(headers).toEqual(await readHeaders(store.query, { from: 1003, to: 1005 }));
    expect(await sink.headers({ from: 1, to: 9 })).toEqual(new Map());
    const blocks =
      (await sink.transactions([
        { from: 1000, to: 1001 },
        { from: 1006, to: 2000 },
      ])) ?? [];
    expect(new Set(blocks.map(({ mcSeqno }) => mcSeqno))).toEqual(new Set([1000, 1006]));
    const counts = [...headers.values()].flat().map(({ txCount }) => txCount);
    expect(
      await countPromised(store.query, [
        { from: 1004, to: 1004 },
        { from: 1005, to: 1005 },
      ]),
    ).toBe(counts.reduce((sum, count) => sum + count, 0));
    await store.close();
    if (name === 'w') expect(statements.map((sql) => sql.match(/\.parquet'/g)?.length ?? 0)).toEqual([2, 0, 2]);
  },
);
