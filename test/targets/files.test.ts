import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { CellNotes } from '../../src/targets/cell-notes.ts';
import { openRows } from '../../src/targets/exported-rows.ts';
import { writeXlsx } from '../../src/targets/xlsx-file.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox, registry, texts } from '../marts/support.ts';
import { hasModules } from '../programs.ts';
import { freshFolder } from '../scratch.ts';
import { HARD_ROWS, runPython } from './support.ts';

let path: string;
let folder: string;
beforeAll(async () => {
  path = await exportSandbox('4998:5001', ['transactions']);
  folder = freshFolder();
});

const send = (rows: string, to: string, ...args: readonly string[]) =>
  tonlake(['export', rows, '--to', join(folder, to), '--warehouse', path, ...args]);

describe('a CSV file', () => {
  test('shows hostile texts as text, leaves identifiers and numbers alone, and says what it changed', async () => {
    const { stderr } = await send(
      `SELECT unnest(['=1+1', '@SUM(A1)', '-2+3+cmd|''/C calc''!A0', '+1', '-5', '-1:${'3'.repeat(64)}', '+${'a'.repeat(42)}=', 'plain']) AS words`,
      'words.csv',
    );
    expect(stderr).toContain('warning: 3 values (words): text that begins like a formula');
    expect(readFileSync(join(folder, 'words.csv'), 'utf8').split('\n').slice(1, -1)).toEqual([
      ...["'=1+1", "'@SUM(A1)", "'-2+3+cmd|'/C calc'!A0", '+1', '-5'],
      ...[`-1:${'3'.repeat(64)}`, `+${'a'.repeat(42)}=`, 'plain'],
    ]);
  });

  test('shows what is printed as a hostile text as text, whatever its type', async () => {
    const { stderr } = await send(
      `SELECT '=1+1'::BLOB AS bytes, union_value(s := '@SUM(A1)') AS "either", -5.50 AS price, -1e-7 AS small, (-5)::HUGEINT AS whole`,
      'types.csv',
    );
    expect(stderr).toContain('warning: 2 values');
    expect(readFileSync(join(folder, 'types.csv'), 'utf8')).toBe(
      "bytes,either,price,small,whole\n'=1+1,'@SUM(A1),-5.50,-1e-7,-5\n",
    );
  });

  test('keeps them on request', async () => {
    const { stderr } = await send("SELECT '=1+1' AS words", 'kept.csv', '--keep-formulas');
    expect([stderr, readFileSync(join(folder, 'kept.csv'), 'utf8')]).toEqual([
      expect.not.stringContaining('warning'),
      'words\n=1+1\n',
    ]);
  });
});

test('a parameter that the rows do not name is refused, as by tonlake sql', async () => {
  for (const rows of ['transactions', 'SELECT 1 AS a']) {
    const { code, stderr } = await send(rows, 'none.csv', '--param', 'a=1');
    expect([code, stderr]).toEqual([
      2,
      'error: usage: expected a parameter of the query, got a; hint: use $a in the query\n',
    ]);
  }
});

test('what is there can be exported, by its name and by a query', async () => {
  const files: (readonly string[])[] = [];
  for (const rows of ['_coverage', 'SELECT * FROM _coverage', 'SELECT * FROM _freshness']) {
    const name = `state${files.length}.csv`;
    expect(await send(rows, name)).toMatchObject({ code: 0 });
    files.push(readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  }
  const [named = [], queried, freshness] = files;
  expect(named).toContain('transactions,transactions,proven,,4998,5001,4');
  expect(queried).toEqual(named);
  expect(freshness).toEqual(['mart,built_at,commits_behind']);
});

test('a target that is a folder is refused without naming an option of another command', async () => {
  mkdirSync(join(folder, 'folder.csv'));
  const { code, stderr } = await send('SELECT 1 AS a', 'folder.csv');
  expect([code, stderr]).toEqual([
    1,
    `error: store: file ${join(folder, 'folder.csv')}: expected a file, or nothing, got a folder; hint: choose another path\n`,
  ]);
});

test('JSON lines have an object per line, and every digit', async () => {
  await send('SELECT 9223372036854775807 AS n, [1, NULL] AS list UNION ALL SELECT NULL, []', 'rows.jsonl');
  expect(readFileSync(join(folder, 'rows.jsonl'), 'utf8')).toBe(
    '{"n":9223372036854775807,"list":[1,null]}\n{"n":null,"list":[]}\n',
  );
});

test('an Arrow file has exact types and values', async () => {
  await send(HARD_ROWS, 'hard.arrow');
  const table = tableFromIPC(readFileSync(join(folder, 'hard.arrow')));
  expect(Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]))).toMatchObject({
    ...{
      large: 'Int64',
      word: 'Decimal[38e0]',
      wide: 'Decimal[38e0]',
      bytes: 'Binary',
      at: 'Timestamp<MICROSECOND>',
    },
    ...{ yes: 'Bool', small: 'Int32', near: 'Float64', words: 'Utf8', block_date: 'Date32<DAY>', list: 'Utf8' },
  });
  const column = (name: string) => [...(table.getChild(name) ?? [])];
  expect(column('large')).toEqual([9223372036854775807n, -9223372036854775808n, null, 123456789012345n, 0n]);
  expect(column('bytes').map((value) => value && Buffer.from(value).toString('hex'))).toEqual([
    '00ff5c0a27',
    '',
    null,
    'e2',
    '5c',
  ]);
  expect(column('words')[0]).toContain('back\\slash "quote" \' <b>&amp; ✓ 𝔗');
  expect(table.getChild('id')?.nullCount).toBe(0);
});

const ENDLESS = `SELECT TIMESTAMP 'infinity' AS later, TIMESTAMP '-infinity' AS earlier, DATE 'infinity' AS last, DATE '-infinity' AS first,
  TIMESTAMP '2026-05-01' AS at, DATE '2026-05-01' AS day`;

test('an Arrow file has no infinite dates and times, and says so', async () => {
  const { code, stderr } = await send(ENDLESS, 'endless.arrow');
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(
      'warning: 4 values (later 1, earlier 1, last 1, first 1): an infinite date or time, which Arrow does not have, is null\n',
    ),
  ]);
  const [row] = tableFromIPC(readFileSync(join(folder, 'endless.arrow')));
  const may = Date.UTC(2026, 4, 1);
  const { at, day, ...others } = row?.toJSON() ?? {};
  expect([Number(at), Number(day), others]).toEqual([
    may,
    may,
    { later: null, earlier: null, last: null, first: null },
  ]);
});

test('an Arrow file without rows has its columns', async () => {
  await send('SELECT 1 AS n WHERE false', 'none.arrow');
  const table = tableFromIPC(readFileSync(join(folder, 'none.arrow')));
  expect([table.numRows, table.schema.names]).toEqual([0, ['n']]);
});

test.skipIf(!hasModules(['pyarrow']))('pyarrow reads the same values from an Arrow file', async () => {
  await send(HARD_ROWS, 'py.arrow');
  const rows = runPython(
    `import pyarrow as pa, json, sys
t = pa.ipc.open_file(sys.argv[1]).read_all()
print(json.dumps([[str(v) for v in row] for row in zip(*(t[c].to_pylist() for c in ['wide', 'word', 'exact', 'at', 'block_date']))]))`,
    join(folder, 'py.arrow'),
  );
  const nines = '9'.repeat(38);
  expect(rows).toEqual([
    [nines, '18446744073709551615', '1.500', '2026-05-01 23:59:59.123456', '2026-05-01'],
    [`-${nines}`, '0', '-0.001', '1969-12-31 23:59:59.999000', '2026-05-02'],
    ['None', 'None', 'None', 'None', 'None'],
    ['123456789012345', '1', '2.000', '2026-05-01 00:00:00', '2026-05-01'],
    ['0', '1', '0.000', '1900-01-01 00:00:00', '1900-01-01'],
  ]);
});

describe.skipIf(!hasModules(['sqlite3']))('a SQLite file, read by Python', () => {
  const read = (name: string, sql: string) =>
    runPython(
      `import sqlite3, json, sys
print(json.dumps([[v.hex() if isinstance(v, bytes) else v for v in row] for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]))`,
      join(folder, name),
      sql,
    );

  test('has every value; decimals, dates and times are text, and NaN is told', async () => {
    const { stderr } = await send(HARD_ROWS, 'hard.sqlite', '--as', 'hard');
    expect(stderr).toContain('warning: 1 value (near): the number NaN');
    const nines = '9'.repeat(38);
    expect(read('hard.sqlite', 'SELECT * FROM hard WHERE id < 4 ORDER BY id')).toEqual([
      [
        ...[1, 1, -2147483648],
        // The JSON of Python has all digits, that of JavaScript does not.
        ...[Number(9223372036854775807n), '18446744073709551615', nines, '1.500', 0.1],
        'tab\tline\nreturn\rback\\slash "quote" \' <b>&amp; ✓ 𝔗',
        ...['00ff5c0a27', '2026-05-01 23:59:59.123456', '2026-05-01', '[1,null,3]'],
      ],
      [
        ...[2, 0, 2147483647, Number(-9223372036854775808n), '0', `-${nines}`, '-0.001', 'NaN', '', ''],
        ...['1969-12-31 23:59:59.999', '2026-05-02', '[]'],
      ],
      [3, ...Array.from({ length: 12 }, () => null)],
    ]);
    expect(
      read('hard.sqlite', 'SELECT CAST(large AS TEXT), typeof(large), CAST(near AS TEXT) FROM hard ORDER BY id'),
    ).toEqual([
      ['9223372036854775807', 'integer', '0.1'],
      ['-9223372036854775808', 'integer', 'NaN'],
      [null, 'null', null],
      ['123456789012345', 'integer', '-Inf'],
      ['0', 'integer', '1.0e+300'],
    ]);
  });

  test('replaces exactly the exported days, and keeps other tables', async () => {
    await send('transactions', 'lake.sqlite');
    await send('SELECT 1 AS n', 'lake.sqlite', '--as', 'other');
    const days = await texts(path, 'SELECT block_date, count(*) FROM transactions GROUP BY 1 ORDER BY 1');
    runPython(
      "import sqlite3, sys, json\nc = sqlite3.connect(sys.argv[1]); c.execute('update transactions set total_fees = -1'); c.commit(); print(1)",
      join(folder, 'lake.sqlite'),
    );
    expect((await send('transactions', 'lake.sqlite', '--days', '2026-05-02')).stderr).toContain('1 day replaced');
    expect(
      read('lake.sqlite', 'SELECT block_date, count(*), max(total_fees) = -1 FROM transactions GROUP BY 1 ORDER BY 1'),
    ).toEqual(days.map(([day, count], at) => [day, Number(count), at === 0 ? 1 : 0]));
    expect(read('lake.sqlite', 'SELECT n FROM other')).toEqual([[1]]);
    expect(statSync(join(folder, 'lake.sqlite')).mode & 0o044).toBe(0o044 & ~process.umask());
  });

  test('is refused if its table is not one of ours, or another program is writing', async () => {
    runPython(
      "import sqlite3, sys, json\nc = sqlite3.connect(sys.argv[1]); c.execute('create table n (n integer)'); c.commit(); print(1)",
      join(folder, 'theirs.sqlite'),
    );
    expect((await send('SELECT 1::INTEGER AS n', 'theirs.sqlite', '--as', 'n')).stderr).toContain(
      'was not made by tonlake',
    );
    writeFileSync(join(folder, 'theirs.sqlite-journal'), 'x');
    expect((await send('SELECT 1 AS n', 'theirs.sqlite', '--as', 'm')).stderr).toContain('that no program is writing');
  });
});

describe.skipIf(!hasModules(['openpyxl']))('an XLSX file, read by openpyxl', () => {
  const read = (name: string) =>
    runPython(
      `import openpyxl, json, sys
book = openpyxl.load_workbook(sys.argv[1])
print(json.dumps({sheet.title: [[[cell.data_type, str(cell.value)] for cell in row] for row in sheet] for sheet in book}))`,
      join(folder, name),
    ) as Readonly<Record<string, readonly (readonly (readonly string[])[])[]>>;

  test('has numbers, dates and texts; what they cannot hold is text, and told', async () => {
    const { stderr, code } = await send(HARD_ROWS, 'hard.xlsx', '--as', 'hard');
    expect(code).toBe(0);
    expect(stderr).toContain('(large 2, word 1, wide 2): a number of more than 15 digits');
    expect(stderr).toContain('(near): a number that a spreadsheet does not have');
    expect(stderr).toContain('1 value (at): a time with microseconds');
    const [head = [], first = [], , , fourth = []] = read('hard.xlsx')['hard'] ?? [];
    const at = (row: readonly (readonly string[])[], name: string) => row[head.findIndex(([, text]) => text === name)];
    expect(at(first, 'large')).toEqual(['s', '9223372036854775807']);
    expect(at(first, 'wide')).toEqual(['s', '9'.repeat(38)]);
    expect(at(first, 'exact')).toEqual(['n', '1.5']);
    expect(at(first, 'yes')).toEqual(['b', 'True']);
    expect(at(first, 'bytes')).toEqual(['s', 'AP9cCic=']);
    expect(at(first, 'at')).toEqual(['s', '2026-05-01 23:59:59.123456']);
    expect(at(first, 'block_date')).toEqual(['d', '2026-05-01 00:00:00']);
    expect(at(fourth, 'large')).toEqual(['n', '123456789012345']);
    expect(at(fourth, 'at')).toEqual(['d', '2026-05-01 00:00:00']);
    expect(at(fourth, 'words')).toEqual(['s', '=HYPERLINK("http://x/","y")']);
  });

  test('has the text of infinite and of far dates and times, and says so', async () => {
    const far = "DATE '10000-01-01' AS far, DATE '9999-12-31' AS near, TIMESTAMP '1969-12-31 23:59:59.999' AS old";
    const { code, stderr } = await send(`${ENDLESS}, ${far}`, 'endless.xlsx', '--as', 'endless');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        'warning: 6 values (later 1, earlier 1, last 1, first 1, far 1, old 1): a date or time that a spreadsheet does not have is text\n',
      ),
    ]);
    expect(read('endless.xlsx')['endless']?.[1]).toEqual([
      ...['infinity', '-infinity', 'infinity', '-infinity'].map((text) => ['s', text]),
      ...['2026-05-01', '2026-05-01'].map((day) => ['d', `${day} 00:00:00`]),
      ['s', '10000-01-01'],
      ['d', '9999-12-31 00:00:00'],
      ['s', '1969-12-31 23:59:59.999'],
    ]);
  });

  test('goes on in further sheets when one is full, and says so', async () => {
    const reader = await openReader(path, registry.tables);
    const rows = await openRows(reader, registry, { sql: 'SELECT i FROM range(5) t(i)' }, {});
    const notes = new CellNotes();
    expect(await writeXlsx(rows, join(folder, 'sheets.xlsx'), { name: 'n/umbers', notes, sheetRows: 3 })).toBe(5);
    await reader.close();
    const sheets = Object.entries(read('sheets.xlsx')).map(([name, cells]) => [
      name,
      ...cells.map((row) => row[0]?.[1]),
    ]);
    expect(sheets).toEqual([
      ['n_umbers', 'i', '0', '1'],
      ['n_umbers 2', 'i', '2', '3'],
      ['n_umbers 3', 'i', '4'],
    ]);
    expect(notes.messages()).toEqual([expect.stringContaining('3 sheets')]);
  });
});

test.each([
  [['transactions', 'x.docx'], 2, /expected a target of rows, got ".*x\.docx"; hint: a file that ends in .csv/],
  [['SELECT 1 AS n', 'x.sqlite'], 2, /expected a name for the rows of a query/],
  [['SELECT 1 AS n', 'x.csv', '--days', '2026-05-01'], 2, /expected rows with a date column block_date/],
  [['transactions', 'x.csv', '--days', '2026-02-30'], 2, /expected days such as/],
  [
    ['transactionz', 'x.csv'],
    1,
    /Table with name transactionz does not exist! [^:]*; hint: tonlake show .*\nLINE 1: .*\n +\^\n$/,
  ],
  [['SELECT 1 AS n,\n  nix AS x', 'x.csv'], 1, /"nix" was not found .* \(line 2\); hint: tonlake show /],
  [['transactions', 'x.csv', '--strict', '--days', '2026-05-02'], 1, /transactions/],
] as const)('%j ends with %i, and leaves no file', async (args, code, message) => {
  const result = await send(args[0], args[1], ...args.slice(2));
  expect([result.code, result.stderr]).toEqual([code, expect.stringMatching(message)]);
  expect(statSync(join(folder, args[1]), { throwIfNoEntry: false })).toBeUndefined();
});

test('a file is replaced only when the new one is complete', async () => {
  await send('SELECT 1 AS n', 'kept.xlsx', '--as', 'n');
  const before = readFileSync(join(folder, 'kept.xlsx'));
  const { code } = await send(
    "SELECT CASE WHEN i > 4000 THEN error('no') ELSE 'x' END AS n FROM range(5000) t(i)",
    'kept.xlsx',
  );
  expect([code, readFileSync(join(folder, 'kept.xlsx')).equals(before)]).toEqual([1, true]);
});
