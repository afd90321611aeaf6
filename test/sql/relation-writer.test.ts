import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { portableType, type RelationFormat, writeRelation } from '../../src/sql/relation-writer.ts';
import { boxOf, fittedTo } from '../../src/sql/text-table.ts';
import { exportRows } from '../../src/targets/export-rows.ts';
import { exportSandbox } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';

/** Above 2^53, where a float has other digits. */
const SELECT = `SELECT sum(x) AS s, list(sum(x)) OVER () AS l, {'a': sum(x), '"b': 1.50::DECIMAL(38,2)} AS t, 1::UHUGEINT AS u,
  uuid() AS id, TIME '12:00' AS at, INTERVAL '1 us' AS i FROM (VALUES (9007199254740993::BIGINT), (2)) AS v(x)`;

async function readBack(format: RelationFormat): Promise<{ readonly types: readonly string[]; readonly row: string }> {
  const database = await Database.open();
  try {
    const file = join(freshFolder(), `r.${format}`);
    expect(await writeRelation(database, { sql: SELECT }, { file, format })).toBe(1);
    const read = format === 'csv' ? `read_csv('${file}', all_varchar = true)` : `'${file}'`;
    const { columns, rows } = await database.query(`SELECT s, l, t FROM ${read}`);
    return { types: columns.map(({ type }) => type), row: (rows[0] ?? []).join(' ') };
  } finally {
    database.close();
  }
}

test('a sum of integers keeps its digits in Parquet, also within lists and structs', async () => {
  const { types, row } = await readBack('parquet');
  expect(types).toEqual(['DECIMAL(38,0)', 'DECIMAL(38,0)[]', 'STRUCT("a" DECIMAL(38,0), """b" DECIMAL(38,2))']);
  expect(row).toContain('9007199254740995 [9007199254740995]');
});

test('a file has the rows of the last of two statements, which reads what the first one made', async () => {
  const database = await Database.open();
  const folder = freshFolder();
  for (const format of ['parquet', 'csv', 'json'] as const) {
    const sql = `CREATE TEMP TABLE made_for_${format} AS FROM range(3) AS t(n); FROM made_for_${format};`;
    const file = join(folder, `r.${format}`);
    expect(await writeRelation(database, { sql }, { file, format })).toBe(3);
    const { rows } = await database.query(`SELECT n::VARCHAR FROM '${file}' ORDER BY n`);
    expect(rows).toEqual([['0'], ['1'], ['2']]);
  }
  database.close();
});

test('a sum of integers keeps its digits in CSV', async () => {
  expect((await readBack('csv')).row).toContain('9007199254740995 [9007199254740995]');
});

test('an exported file has the digits of a sum', async () => {
  const warehouse = await exportSandbox('1000:1002', ['blocks']);
  const folder = freshFolder();
  const sql = 'select sum(start_lt) + 9007199254740993 - sum(start_lt) as s from blocks';
  const database = await Database.open();
  for (const format of ['parquet', 'csv', 'json']) {
    const file = join(folder, `r.${format}`);
    expect((await exportRows(warehouse, { sql }, file)).rows).toBe(1);
    const { rows } = await database.query(`SELECT s::VARCHAR FROM '${file}'`);
    expect(rows).toEqual([['9007199254740993']]);
  }
  database.close();
});

test.each(['DATE', 'TIMESTAMP', 'TIMESTAMPTZ', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS'])(
  'an infinite %s is written as DuckDB casts it to text',
  async (type) => {
    const sql = `SELECT 'infinity'::${type} AS last, '-infinity'::${type} AS first, [first] AS both`;
    const database = await Database.open();
    const folder = freshFolder();
    for (const format of ['csv', 'json', 'jsonl'] as const)
      await writeRelation(database, { sql }, { file: join(folder, format), format });
    const box = await database.stream(sql, undefined, boxOf);
    database.close();
    expect(readFileSync(join(folder, 'csv'), 'utf8')).toMatch(/^last,first,both\ninfinity,-infinity,/);
    const row = { last: 'infinity', first: '-infinity', both: ['-infinity'] };
    expect(JSON.parse(readFileSync(join(folder, 'json'), 'utf8'))).toEqual([row]);
    expect(JSON.parse(readFileSync(join(folder, 'jsonl'), 'utf8'))).toEqual(row);
    expect(box).toMatch(/ infinity .* -infinity /);
  },
);

test('the last days before infinity are days', async () => {
  const database = await Database.open();
  const file = join(freshFolder(), 'r.csv');
  await writeRelation(database, { sql: "SELECT DATE '5881580-07-10' AS last" }, { file, format: 'csv' });
  database.close();
  expect(readFileSync(file, 'utf8')).toBe('last\n5881580-07-10\n');
});

test('types that Parquet lacks are named within others, and names of fields are not', () => {
  expect(portableType('MAP(VARCHAR, STRUCT("HUGEINT" HUGEINT, at TIME WITH TIME ZONE)[3])')).toBe(
    'MAP(VARCHAR, STRUCT("HUGEINT" DECIMAL(38,0), at VARCHAR)[3])',
  );
  expect(portableType("ENUM('UUID', 'TIME')")).toBe("ENUM('UUID', 'TIME')");
  expect(portableType('TIMESTAMP WITH TIME ZONE')).toBe('TIMESTAMP WITH TIME ZONE');
});

test('a slow reader is waited for: rows are made as they are taken', async () => {
  const database = await Database.open();
  let taken = 0;
  const most = 1 << 21;
  const out = new Writable({
    highWaterMark: 1,
    write: (_piece, _encoding, done) => {
      taken++;
      if (taken === 3) done(new Error('enough'));
      else setImmediate(done);
    },
  });
  out.on('error', () => undefined);
  const sql = `SELECT range, repeat('x', 1000) FROM range(${most})`;
  await expect(writeRelation(database, { sql }, { out, format: 'csv' })).rejects.toThrow('enough');
  expect(taken).toBe(3);
  database.close();
});

test.each(['csv', 'json'] as const)(
  '%s that cannot be written fails, also if that shows before the first row',
  async (format) => {
    const database = await Database.open();
    const file = join(freshFolder(), 'none', `r.${format}`);
    const written = writeRelation(
      database,
      { sql: 'SELECT range FROM range(1000000) ORDER BY range DESC' },
      { file, format },
    );
    await expect(written).rejects.toMatchObject({ code: 'ENOENT' });
    database.close();
  },
);

test('a stream that failed between two rows fails the query', async () => {
  const database = await Database.open();
  const out = new Writable({ write: (_piece, _encoding, done) => done(new Error('the disk is full')) });
  out.on('error', () => undefined);
  out.write('before');
  await expect(once(out, 'close')).rejects.toThrow('the disk is full');
  const written = writeRelation(database, { sql: 'SELECT 1' }, { out, format: 'csv' });
  await expect(written).rejects.toThrow('the disk is full');
  database.close();
});

test.each(['csv', 'json'] as const)('%s of Parquet rows is whole with one thread and a slow reader', async (format) => {
  const [database, rows] = [await Database.open(), 50_000];
  const file = join(freshFolder(), 'rows.parquet');
  await database.run(`COPY (SELECT range AS n, repeat('x', 200) AS x FROM range(${rows})) TO '${file}'`);
  const pieces: string[] = [];
  const out = new Writable({
    highWaterMark: 1,
    write: (piece, _encoding, done) => {
      pieces.push(String(piece));
      setImmediate(done);
    },
  });
  const sql = `SET threads = 1; SET streaming_buffer_size = '10KB'; SELECT n, x FROM '${file}'`;
  expect(await writeRelation(database, { sql }, { out, format })).toBe(rows);
  database.close();
  const numbers = [...pieces.join('').matchAll(/^(?:\[?\{"n":)?(\d+),/gm)].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: rows }, (_, n) => n));
});

test('a box that is wider than the terminal becomes one line per column', async () => {
  const database = await Database.open();
  const read = (width: number) => database.stream("SELECT 1 AS n, 'long text' AS x", undefined, fittedTo(width));
  const [box, lines] = [await read(17), await read(16)];
  database.close();
  expect(box.split('\n')).toEqual([
    '┌───┬───────────┐',
    '│ n │ x         │',
    '├───┼───────────┤',
    '│ 1 │ long text │',
    '└───┴───────────┘',
    '1 row',
    '',
  ]);
  expect(lines).toBe('n = 1\nx = long text\n\n1 row\n');
});

test('a box holds its first rows, and counts the others', async () => {
  const database = await Database.open();
  const box = await database.stream('FROM range(123456) AS t(n)', undefined, boxOf);
  database.close();
  expect(box.split('\n')).toHaveLength(1000 + 6);
  expect(box).toMatch(/ 999 │\n[└─┘]+\n123456 rows, of which 1000 are shown; --format csv has all\n$/);
});
