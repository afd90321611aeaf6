import { expect, test } from 'vitest';
import { readSlices } from '../../src/marts/mart-inputs.ts';
import { commitItems, freshPath, openTestStore } from '../warehouse/warehouses.ts';

test.each(['parquet', 'duckdb'] as const)(
  'a mart by days reads a table without days whole for each day (%s)',
  async (kind) => {
    const store = await openTestStore(freshPath(kind));
    await commitItems(store, 0, 9, { perDay: 10 });
    await commitItems(store, 10, 29, { perDay: 10 });
    const mart = { inputs: ['parts', 'items'], isDaily: true };
    const slices = await readSlices(store, mart, new Set(['items']));
    const spans = slices.map(({ date, days, parts }) => ({
      ...{ date, days },
      parts: parts.get('parts')?.map(({ span }) => span.from),
      items: parts.get('items')?.map(({ span }) => span.from),
    }));
    expect(spans).toEqual([
      { date: '2026-05-01', days: ['2026-05-01'], parts: [0, 10], items: [0] },
      { date: '2026-05-02', days: ['2026-05-02'], parts: [0, 10], items: [10] },
      { date: '2026-05-03', days: ['2026-05-03'], parts: [0, 10], items: [10] },
    ]);
  },
);
