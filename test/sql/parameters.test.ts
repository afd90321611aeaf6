import { afterAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { boundIn, parametersIn, replaceParameters, unknownParameter } from '../../src/sql/parameters.ts';

const database = await Database.open(':memory:');

afterAll(() => database.close());

test.each<[string, readonly string[]]>([
  ['select $a, $B_2, $a', ['a', 'B_2', 'a']],
  ['select $größe, $1x', ['größe', '1']],
  ['select $"a ""b"', ['a "b']],
  ['select $1 + $2', ['1', '2']],
  [`select '$a', "$a", e'\\'$a', $$ $a $$, $b$ $a $b$ -- $a\n/* $a */`, []],
  ['select 1 as a$b, ä$b', []],
])('%s has the parameters %j', (sql, names) => {
  expect(parametersIn(sql).map(({ name }) => name)).toEqual(names);
});

test('values are bound whatever the case of their names, and those without a parameter are refused', async () => {
  const sql = "select $Day::DATE::VARCHAR, '$x' -- $x";
  expect((await database.query(sql, boundIn(sql, { day: '2026-05-01' }))).rows).toEqual([['2026-05-01', '$x']]);
  expect(boundIn('select 1', {})).toBeUndefined();
  expect(() => boundIn(sql, { day: 1, x: 2 })).toThrow('expected a parameter of the query, got x');
});

test('an unknown parameter has its line', () => {
  const sql = "select $DATE, '$dat' -- $dat\n, $dat";
  expect(unknownParameter(sql, ['date'])).toEqual({ written: '$dat', line: 2 });
  expect(unknownParameter(sql, ['date', 'dat'])).toBeUndefined();
});

test('another text takes the place of each', () => {
  expect(replaceParameters("select $a, '$b' || $c", (written) => written.toUpperCase())).toBe("select $A, '$b' || $C");
  expect(replaceParameters('select 1', () => '')).toBe('select 1');
});
