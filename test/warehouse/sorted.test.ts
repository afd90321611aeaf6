import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromParent, int32, lt, text } from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import { OrderCheck } from '../../src/warehouse/staging/order-check.ts';
import { makeBatch, type Value } from './batches.ts';

const ordered = table('ordered', {
  grain: 'one row of a test',
  rows: { kind: 'nested', of: 'x', places: [] },
  key: ['lt'],
  sort: ['lt', 'name', 'n'],
  columns: {
    n: int32('/n', 'integer'),
    name: text('/name', 'text').nullable(),
    lt: lt('/lt', 'logical time'),
    hash: fromParent('text', 'hash', 'not part of the order'),
  },
});

type Row = readonly [n: bigint, name: string | null, lt: bigint, hash: string];

function isSorted(batches: readonly (readonly Row[])[]): boolean {
  const check = new OrderCheck(ordered);
  for (const rows of batches) {
    const batch = makeBatch(ordered, rows as readonly (readonly Value[])[]);
    check.add(batch);
    // The memory of a batch is used again.
    for (const { values } of batch.vectors) values.fill(0x55);
  }
  return check.isSorted;
}

/** DuckDB compares texts by their bytes, and puts nulls last. */
function compareRows(a: Row, b: Row): number {
  return (
    Number(a[2] - b[2] > 0n) - Number(a[2] - b[2] < 0n) ||
    Number(a[1] === null) - Number(b[1] === null) ||
    Buffer.compare(Buffer.from(a[1] ?? ''), Buffer.from(b[1] ?? '')) ||
    Number(a[0] - b[0])
  );
}

const anyRow: fc.Arbitrary<Row> = fc.tuple(
  fc.bigInt(-2n, 2n),
  fc.constantFrom(null, '', 'a', 'b', 'é', '￿', '👍'),
  fc.oneof(fc.constantFrom(-(2n ** 63n), -1n, 0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n - 1n)),
  fc.constantFrom('z', 'y'),
);

test('rows are in order exactly when a sort would not move them, over the borders of batches as well', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 8 }), fc.boolean(), fc.nat({ max: 8 }), (rows, sorts, cut) => {
      const list = sorts ? rows.toSorted(compareRows) : rows;
      const expected = list.every((row, at) => at === 0 || compareRows(list[at - 1] ?? row, row) <= 0);
      expect(isSorted([list.slice(0, cut), [], list.slice(cut)])).toBe(expected);
    }),
    { numRuns: 500 },
  );
});

test('nulls stand last', () => {
  const [named, unnamed]: [Row, Row] = [
    [1n, 'a', 1n, ''],
    [1n, null, 1n, ''],
  ];
  expect(isSorted([[named, unnamed, unnamed]])).toBe(true);
  expect(isSorted([[named], [unnamed], [unnamed]])).toBe(true);
  expect(isSorted([[unnamed, named]])).toBe(false);
  expect(isSorted([[unnamed], [named]])).toBe(false);
});

test('the last row of a batch is remembered when the memory of the batch is used again', () => {
  expect(isSorted([[[1n, 'b', 1n, '']], [[1n, 'a', 1n, '']]])).toBe(false);
  expect(isSorted([[[1n, 'a', 1n, '']], [[1n, 'b', 1n, '']]])).toBe(true);
});
