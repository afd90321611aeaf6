import { expect, test } from 'vitest';
import { selectedTable } from '../../src/declare/selected-table.ts';
import { commitSelect } from '../../src/marts/commit-mart.ts';
import type { Store } from '../../src/warehouse/store.ts';
import { freshPath, openTestStore } from '../warehouse/warehouses.ts';

test('a mart that needs more memory than a store reads with leaves the limit as it was', async () => {
  const columns = [
    { name: 'key', type: 'BIGINT' },
    { name: 'n', type: 'BIGINT' },
  ];
  const table = selectedTable({ name: 'large', grain: 'one key', key: ['key'], isDated: false, columns });
  const store = await openTestStore(freshPath('parquet'), { marts: [table] });
  const limit = async () => (await store.query("SELECT current_setting('memory_limit')")).rows;
  const before = await limit();
  const asked: string[] = [];
  const watched: Store = {
    ...{ kind: store.kind, path: store.path, staging: store.staging, rows: store.rows },
    stage: (pipeline, span) => store.stage(pipeline, span),
    scratch: () => store.scratch(),
    commit: (staged, draft) => store.commit(staged, draft),
    commitTogether: (parts) => store.commitTogether(parts),
    ledger: () => store.ledger(),
    forgotten: () => store.forgotten(),
    log: (after) => store.log(after),
    requireKnown: () => store.requireKnown(),
    connect: () => store.connect(),
    clearSuperseded: () => store.clearSuperseded(),
    closeIdle: () => store.closeIdle(),
    close: () => store.close(),
    query: (sql, parameters) => {
      asked.push(sql.split(' ').slice(0, 2).join(' '));
      return store.query(sql, parameters);
    },
  };
  const large =
    'SELECT max(length(s)) AS key, 1::BIGINT AS n FROM (SELECT string_agg(repeat(i::VARCHAR, 40)) AS s FROM range(800000) t(i))';
  const stamp = { inputs: '0123456789abcdef', coverage: 'proven' as const, reads: [], through: 0 };
  await commitSelect(watched, watched.query, {
    table,
    select: large,
    span: { from: 1, to: 1 },
    network: 'sandbox',
    stamp: async () => stamp,
    before: [],
  });
  expect(asked.filter((sql) => sql === 'SET memory_limit')).toHaveLength(2);
  expect(await limit()).toEqual(before);
  await store.close();
});
