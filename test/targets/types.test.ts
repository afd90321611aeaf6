import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { arrowType } from '../../src/targets/arrow-file.ts';
import { COLUMN_CLASSES, classOf, typeIn } from '../../src/targets/column-class.ts';
import { POSTGRES_TYPES } from '../../src/targets/postgres-table.ts';
import { SQLITE_TYPES } from '../../src/targets/sqlite-file.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/export.md'), 'utf8');
const table = page.slice(page.indexOf('| values |'), page.indexOf('CSV, JSON and Parquet have'));

test('docs/export.md has the types of every target', () => {
  const rows = table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const told = rows.map(([, kind, arrow, , sqlite, postgres]) => [kind, arrow, sqlite, postgres]);
  const wanted = COLUMN_CLASSES.map((kind) => {
    const classed = { class: kind, sql: '', precision: 38, scale: 0 };
    const [arrow = ''] = String(arrowType(classed)).split(/[<[]/);
    const beginsWith = (text: string) => expect.stringMatching(new RegExp(`^${text}\\b`));
    return [
      kind,
      beginsWith(arrow),
      beginsWith(SQLITE_TYPES[kind]),
      beginsWith(typeIn(POSTGRES_TYPES, classed).split('(')[0] ?? ''),
    ];
  });
  expect(told).toEqual(wanted);
});

test.each([
  ['BIGINT', 'int64', 'BIGINT'],
  ['UINTEGER', 'int64', 'BIGINT'],
  ['UBIGINT', 'decimal', 'DECIMAL(20,0)'],
  ['HUGEINT', 'decimal', 'DECIMAL(38,0)'],
  ['DECIMAL(18,3)', 'decimal', 'DECIMAL(18,3)'],
  ['TIMESTAMP_NS', 'text', 'VARCHAR'],
  ['INTEGER[]', 'json', 'JSON'],
  ['STRUCT(a INTEGER)', 'json', 'JSON'],
  ["ENUM('a', 'b')", 'text', 'VARCHAR'],
  ['UUID', 'text', 'VARCHAR'],
] as const)('%s is %s, read as %s', (type, kind, sql) => {
  expect(classOf(type)).toMatchObject({ class: kind, sql });
});
