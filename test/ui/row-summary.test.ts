import { expect, test } from 'vitest';
import type { FoundRows } from '../../src/ui/ui-types.ts';
import { shortened, summarizeRows, tonOf } from '../../ui/row-summary.ts';

const ADDRESS = `0:${'AB'.repeat(32)}`;
const OTHER = `0:${'CD'.repeat(32)}`;

const found: FoundRows = {
  columns: [
    { name: 'hash', type: 'VARCHAR' },
    { name: 'status', type: 'VARCHAR', format: 'text' },
    { name: 'source', type: 'VARCHAR', format: 'address' },
    { name: 'destination', type: 'VARCHAR', format: 'address' },
    { name: 'value', type: 'BIGINT', format: 'ton' },
    { name: 'comment', type: 'VARCHAR', format: 'text' },
    { name: 'seen', type: 'TIMESTAMP', format: 'time' },
  ],
  key: [{ name: 'hash', at: 0 }],
  rows: [
    ['a', 'active', ADDRESS, OTHER, '1500000000', '<b>hi</b>', '2026-05-01 00:00:01.5'],
    ['b', 'active', OTHER, ADDRESS, '1', null, '2026-05-01 00:00:00'],
  ],
};

test('a line about a row has its time, and what is not the same in all rows nor sought', () => {
  const summaryOf = summarizeRows(found, ADDRESS);
  expect(found.rows.map((row) => summaryOf(row).map(({ name, text }) => `${name} ${text}`))).toEqual([
    ['seen 2026-05-01 00:00:01', 'destination 0:CDCDCD…CDCDCD', 'value 1.5 TON', 'comment <b>hi</b>'],
    ['seen 2026-05-01 00:00:00', 'source 0:CDCDCD…CDCDCD', 'value 0.000000001 TON'],
  ]);
});

test('of a single row, the first three words are told', () => {
  const rows = found.rows.slice(0, 1);
  expect(summarizeRows({ ...found, rows }, 'a')(rows[0] ?? []).map(({ name }) => name)).toEqual([
    ...['seen', 'status', 'source', 'destination'],
  ]);
});

test.each([
  ['0', '0'],
  ['-1', '-0.000000001'],
  ['10000000000', '10'],
  ['9223372036854775807', '9223372036.854775807'],
])('%s nanotons are %s TON', (nanotons, ton) => {
  expect(tonOf(nanotons)).toBe(ton);
});

test('short text is not cut', () => {
  expect([shortened('2026-05-01'), shortened(ADDRESS)]).toEqual(['2026-05-01', '0:ABABAB…ABABAB']);
});
