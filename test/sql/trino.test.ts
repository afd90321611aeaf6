import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { trinoMacros } from '../../src/sql/trino/functions.ts';
import { translateTrino } from '../../src/sql/trino/translate.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox } from '../marts/support.ts';

const database = await Database.open(':memory:');
await database.run("SET TimeZone = 'UTC'");
for (const { statement } of declaredMacros()) await database.run(statement());
for (const [name, definition] of trinoMacros) await database.run(`CREATE TEMP MACRO ${name}${definition}`);

afterAll(() => database.close());

async function answer(sql: string): Promise<readonly unknown[]> {
  const { rows } = await database.query(await translateTrino(database.query, sql));
  return rows.flat().map((value) => (value === null || typeof value === 'boolean' ? value : String(value)));
}

describe('Trino means', () => {
  test.each<[string, string, readonly (string | boolean | null)[]]>([
    ['integers divide to integers', '7 / 2, -7 / 2, 7 / 2e0', ['3', '-3', '3.5']],
    ['a decimal keeps its digits', '1 / 3.0, 2 / 3.0, -2 / 3.0, 1.00 / 8', ['0.3', '0.7', '-0.7', '0.13']],
    ['an amount by an integer is rounded', 'cast(3500000000 as decimal(38,0)) / 1000000000', ['4']],
    [
      'a float is rounded half up',
      'cast(2.5e0 as bigint), cast(-2.5e0 as bigint), cast(2.4e0 as integer)',
      ['3', '-3', '2'],
    ],
    ['a float stays one', '1e9 * 3, typeof(1e9)', ['3000000000', 'DOUBLE']],
    [
      'what comes after a call on nulls',
      'last_value(x) ignore nulls over (order by n rows unbounded preceding) from (values (1, 5), (2, null)) t(n, x) order by n desc limit 1',
      ['5'],
    ],
    [
      'a link as Dune has it',
      "get_href('https://x.org/' || 'a', 'a')",
      ['<a href="https://x.org/a" target="_blank">a</a>'],
    ],
    ['nulls win', "greatest(1, null), least(null, 2), concat('a', null), greatest(1, 3)", [null, null, null, '3']],
    ['no match is null', "regexp_extract('abc', 'x(.)', 1), regexp_replace('ab', '(a)(b)', '$2$1')", [null, 'ba']],
    [
      'dates stay dates',
      "date_trunc('week', date '2024-01-07'), date_add('day', 1, date '2024-01-31')",
      ['2024-01-01', '2024-02-01'],
    ],
    [
      'whole units between times',
      "date_diff('day', timestamp '2024-01-01 23:00:00', timestamp '2024-01-02 01:00:00')",
      ['0'],
    ],
    ['a count without rows is 0', 'count_if(x > 9) IS NULL, count_if(x > 5) FROM (VALUES 1, 2) t(x)', [false, '0']],
    ['the 64 bits of a number', 'bitwise_right_shift(-1, 32), bitwise_and(6, 3)', ['4294967295', '2']],
    [
      'formats as in MySQL',
      "date_format(timestamp '2024-01-02 03:04:05', '%Y-%m %H:%i'), date_parse('02.01.2024', '%d.%m.%Y')",
      ['2024-01 03:04', '2024-01-02 00:00:00'],
    ],
    [
      'formats as in Joda',
      "format_datetime(timestamp '2024-01-02 03:04:05', 'yyyy-MM-dd HH:mm')",
      ['2024-01-02 03:04'],
    ],
    [
      'types by their names',
      "cast(array[1] as array(varchar)), cast(row(1, 'a') as row(x bigint, y varchar)).y",
      ["['1']", 'a'],
    ],
    [
      'lists',
      'reduce(array[1, 2], 0, (s, x) -> s + x, s -> s), transform(array[1], x -> x + 1), cardinality(array[1, 2])',
      ['3', '[2]', '2'],
    ],
    [
      'maps',
      "cardinality(map_agg(k, v)), element_at(map_agg(k, v), 'z') FROM (VALUES ('a', 1), ('b', 2)) t(k, v)",
      ['2', null],
    ],
    [
      'bytes',
      "0xABcd = from_hex('abcd'), to_base64(X'ABCD'), bytearray_to_bigint(0x0100), length(0xabcdef)",
      [true, 'q80=', '256', '3'],
    ],
    [
      'a decimal literal has its digits, and a bare decimal none',
      "decimal '0.0000001', typeof(decimal '-12.50'), cast(2.5 as decimal), typeof(cast(1 as decimal)), try_cast('1.5' as decimal)",
      ['0.0000001', 'DECIMAL(4,2)', '3', 'DECIMAL(38,0)', '2'],
    ],
    [
      'a sequence that falls',
      'sequence(3, 1), sequence(1, 2), sequence(5, 1, -2)',
      ['[3, 2, 1]', '[1, 2]', '[5, 3, 1]'],
    ],
    [
      'slices from the end',
      'slice(array[1,2,3], -1, 2), slice(array[1,2,3], -3, 2), slice(array[1,2,3], -4, 2), slice(array[1,2,3], 2, 9)',
      ['[3]', '[1, 2]', '[]', '[2, 3]'],
    ],
    [
      'only scalars of JSON are scalars',
      `json_extract_scalar('{"a":[1,2]}', '$.a'), json_extract_scalar('{"a":1}', '$.a'), json_extract_scalar('{}', '$.a')`,
      [null, '1', null],
    ],
    [
      'a null in a list may be anything',
      'array_max(array[1,null]), array_min(array[1,null]), array_max(array[1,2]), contains(array[1,null],2), contains(array[1,null],1), contains(array[1],2), arrays_overlap(array[1,null],array[2]), array_remove(array[1,null],1)',
      [null, null, '2', null, true, false, null, '[NULL]'],
    ],
    ['a place that is not there', "array_position(array['a'],'b'), array_position(array['a'],'a')", ['0', '1']],
    [
      'parts of texts',
      "split_part('a.b','.',3), split_part('a.b','.',2), substr('abc',0), substr('abc',-2), substr('abc',-4), substring('abc',2,1), substring('abc' from 2 for 1)",
      [null, 'b', '', 'bc', '', 'b', 'b'],
    ],
    [
      'Sunday is the seventh day',
      "extract(dow from date '2026-05-03'), extract(day_of_week from date '2026-05-03'), extract(doy from date '2026-01-02'), extract(hour from timestamp '2026-05-03 04:00:00'), dow(date '2026-05-03')",
      ['7', '7', '2', '4', '7'],
    ],
    [
      'times in UTC, shown by the clocks of a zone',
      "timestamp '2026-05-01 12:00:00 UTC' at time zone 'Europe/Zurich', hour(t at time zone 'Europe/Zurich'), at_timezone(t, 'Asia/Tokyo'), timestamp '2026-05-01 12:00:00 Europe/Zurich' from (values timestamp '2026-05-01 12:00:00') x(t)",
      ['2026-05-01 14:00:00', '14', '2026-05-01 21:00:00', '2026-05-01 10:00:00'],
    ],
    ['columns without a name by their place', 'x."_col0" FROM (SELECT 7 / 2) x(_col0)', ['3']],
  ])('%s', async (_name, list, expected) => {
    expect(await answer(`SELECT ${list}`)).toEqual(expected);
  });

  test('names of columns by their place, in the first select of a union, too', async () => {
    const names = async (sql: string) =>
      (await database.query(await translateTrino(database.query, sql))).columns.map(({ name }) => name);
    expect(
      await names("SELECT date_diff('day', d, d), d, count(*) AS n FROM (SELECT DATE '2026-05-01' AS d) GROUP BY d"),
    ).toEqual(['_col0', 'd', 'n']);
    expect(
      await names("SELECT substr(a, 1), a FROM (SELECT 1::TEXT AS a) UNION ALL SELECT substr('b', 1), 'c'"),
    ).toEqual(['_col0', 'a']);
  });

  test('a division by zero is an error, not a null', async () => {
    await expect(answer('SELECT 1 / x FROM (VALUES 0) t(x)')).rejects.toThrow('division by zero');
    await expect(answer('SELECT 1.5 / x FROM (VALUES 0) t(x)')).rejects.toThrow('division by zero');
  });

  test('a time of another zone is refused', async () => {
    expect(await answer("SELECT from_iso8601_timestamp('2024-01-01T03:04:05Z')")).toEqual(['2024-01-01 03:04:05']);
    await expect(answer("SELECT from_iso8601_timestamp('2024-01-01T03:04:05+03:00')")).rejects.toThrow(
      'expected a time in UTC',
    );
  });

  test('nothing in quotes or comments changes', async () => {
    expect(await answer("SELECT 'greatest(1, null) / 2 {{x}}' /* 0x1 */ -- now\n")).toEqual([
      'greatest(1, null) / 2 {{x}}',
    ]);
  });
});

describe('what has no equal is an error with the form of DuckDB', () => {
  test.each([
    ['SELECT {{days}}', '{{a parameter}}', '$name in the query'],
    ['SELECT 1; SELECT 2', '2 statements', 'CREATE TEMP'],
    ["SELECT date_format(x, '%v') FROM t", '%v in a time format', 'strftime'],
    ['SELECT date_parse(x, y) FROM t', 'a time format that is not a text', 'strptime'],
    ['SELECT reduce(x, 0, (s, e) -> s, s -> s + 1) FROM t', 'reduce with a function of its result', 'list_reduce'],
    [`SELECT json_value('{"a":1}', 'lax $.a')`, 'json_value', 'json_extract_string'],
    ["SELECT t at time zone 'UTC' at time zone 'Asia/Tokyo' FROM (SELECT now() AS t)", 'AT TIME ZONE', 'timezone('],
    ['SELECT avg(1.5), avg(2e0)', 'averages of different kinds', 'avg(x::DOUBLE)'],
  ])('%s', async (sql, what, form) => {
    const error = await translateTrino(database.query, sql).catch((each: unknown) => each);
    expect(error).toMatchObject({
      stage: 'usage',
      message: expect.stringContaining(what),
      hint: expect.stringContaining(form),
    });
  });
});

test('the dialect is an option of one query, and changes nothing else', async () => {
  const warehouse = await exportSandbox('1000:1003', ['transactions']);
  const sql = (text: string, ...more: string[]) =>
    tonlake(['sql', text, '--warehouse', warehouse, '--format', 'csv', ...more]);
  expect(
    (await sql('select count(*) / count(*) + 7 / 2 as x from ton.transactions', '--dialect', 'trino')).stdout,
  ).toBe('x\n4\n');
  expect((await sql('select 7 / 2 as x')).stdout).toBe('x\n3.5\n');
  expect((await sql('select 7 / cast($n as integer) as x', '--dialect', 'trino', '--param', 'n=2')).stdout).toBe(
    'x\n3\n',
  );
  const refused = await sql('select {{days}}', '--dialect', 'trino');
  expect([refused.code, refused.stderr.split('\n').length]).toEqual([2, 2]);
});
