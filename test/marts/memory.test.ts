import { expect, test } from 'vitest';
import { selectedTable } from '../../src/declare/selected-table.ts';
import { commitSelect } from '../../src/marts/commit-mart.ts';
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
  const large = "SELECT length(string_agg(repeat('x', 20000), '')) AS key, 1::BIGINT AS n FROM range(8000)";
  const stamp = { inputs: '0123456789abcdef', coverage: 'proven' as const, reads: [], through: 0 };
  await commitSelect(store, store.query, {
    table,
    select: large,
    span: { from: 1, to: 1 },
    network: 'sandbox',
    stamp: async () => stamp,
    before: [],
  });
  expect((await store.query('FROM large')).rows).toEqual([[160_000_000n, 1n]]);
  expect(await limit()).toEqual(before);
  await store.close();
});
