import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { exportSandbox } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';

let path: string;
beforeAll(async () => {
  path = await exportSandbox('1000:1002', ['blocks']);
});

const sql = (...args: readonly string[]) => tonlake(['sql', '--warehouse', path, ...args]);

function queryFile(text: string): string {
  const file = join(freshFolder(), 'q.sql');
  writeFileSync(file, text);
  return file;
}

test('without headers, a query with a day says that days are not known, not that its rows are missing', async () => {
  const lists = join(freshFolder(), 'w');
  await tonlake(['run', 'jetton_transfers', '-n', 'sandbox', '-r', '1000:1009', '-w', lists]);
  const query = ['sql', "select count(*) from jetton_transfers where block_date = '2026-05-01'", '-w', lists];
  const { code, stderr } = await tonlake(query);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^warning: jetton_transfers: its days are not known without block headers: .*run .*blocks.* --range 1000:1009\n$/,
  );
  const strict = await tonlake([...query, '--strict']);
  expect(strict).toMatchObject({ code: 1, stderr: expect.stringContaining('its days are not known without') });
  await tonlake(['run', 'blocks', '-n', 'sandbox', '-r', '1000:1009', '-w', lists]);
  expect((await tonlake(query)).stderr).toMatch(/^warning: jetton_transfers: missing part of 2026-05-01 \(only /);
});

test.each([
  ['check_failures', /does not exist!(?!.*Did you mean).*; hint: \S*tonlake.* test\b/],
  ['gas_fees_daily', /does not exist!(?!.*Did you mean).*; hint: \S*tonlake.* build .*gas_fees_daily/],
])('a query of %s before it is made names the command that makes it', async (table, error) => {
  const { code, stderr } = await sql(`select * from ${table}`);
  expect({ code, line: stderr.split('\n')[0] }).toEqual({ code: 1, line: expect.stringMatching(error) });
});

test('a mart that lacks an optional table names it, and the command that exports it', async () => {
  const lists = join(freshFolder(), 'w');
  const names = ['jetton_masters', 'jetton_transfers', 'jetton_burns', 'jetton_wallets'];
  await tonlake(['run', ...names, '-n', 'sandbox', '-r', '1000:1009', '-w', lists]);
  await tonlake(['build', 'jetton_holders_daily', '-w', lists]);
  const { stderr } = await tonlake(['sql', 'select count(*) from jetton_holders_daily', '-w', lists]);
  expect(stderr).toMatch(
    /^warning: jetton_holders_daily: missing part of what it reads \(actions was never exported here: .*run .*actions.* --range 1000:1009\)\n$/,
  );
});

describe('parameters of tonlake sql', () => {
  test('are bound by name, and the query casts them', async () => {
    const file = queryFile(
      '-- blocks of a shard\nselect count(*) as n from blocks\nwhere workchain = $WC::integer and seqno >= $from',
    );
    const { stdout, code } = await sql('-f', file, '--param', 'wc=-1', '--param', 'from=1001', '--format', 'csv');
    expect([code, stdout]).toEqual([0, 'n\n2\n']);
  });

  test('are never read as SQL', async () => {
    const evil = "x' or 1=1; drop view blocks; --";
    const none = await sql(
      'select count(*) as n from blocks where root_hash = $v',
      '-p',
      `v=${evil}`,
      '--format',
      'csv',
    );
    expect(none.stdout).toBe('n\n0\n');
    const shown = await sql('select $v as v', '-p', `v=${evil}`, '--format', 'json');
    expect(JSON.parse(shown.stdout)).toEqual([{ v: evil }]);
  });

  test.each([
    [
      ['select 1', '-p', 'a=3'],
      2,
      /^error: usage: expected a parameter of the query, got a; hint: use \$a in the query/,
    ],
    [["select '$a' -- $a", '-p', 'a=3'], 2, /^error: usage: expected a parameter of the query, got a; hint: use \$a/],
    [['select 1', '-p', 'a'], 2, /expected name=value/],
    [['select $a', '-p', 'a=1', '-p', 'a=2'], 2, /a is given twice/],
    [
      ['select 1 where 1 = $a'],
      1,
      /^error: store: query: .*hint: set each \$name of the query with --param name=value\n$/,
    ],
    [
      ['select $a::integer', '-p', 'a=x'],
      1,
      /^error: store: query: Conversion Error: Could not convert string 'x' to INT32/,
    ],
  ] as const)('%j ends with %i', async (args, code, message) => {
    const result = await sql(...args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(result.stderr.match(/^(error|warning): /gm)).toHaveLength(1);
  });
});

test('times are those of UTC, whatever the zone of the machine', async () => {
  const query =
    "select current_setting('TimeZone') as zone, now()::timestamp - $at::timestamp < interval 1 hour as near";
  const at = new Date().toISOString().slice(0, 19);
  const run = startTonlake(['sql', query, '-p', `at=${at}`, '--warehouse', path], { env: { TZ: 'Asia/Tokyo' } });
  expect(await run.finished).toMatchObject({ code: 0, stdout: 'zone,near\nUTC,true\n' });
});

test('a pipe gets CSV, as exact as it is, and a file of texts a box', async () => {
  expect(await sql("select '=1+1' as formula, 1.50 as price")).toMatchObject({ stdout: 'formula,price\n=1+1,1.50\n' });
});

test('a query may begin with a comment', async () => {
  expect((await sql('-- How many?\nselect count(*) as n from blocks', '--format', 'csv')).stdout).toMatch(/^n\n\d/);
});

test('a wrong query of a file is told with file and line', async () => {
  const file = queryFile('select\n  seqno,\n  seqmo\nfrom blocks');
  const { code, stderr } = await sql('-f', file);
  expect(code).toBe(1);
  expect(stderr).toContain(`Referenced column "seqmo" not found`);
  expect(stderr).toContain(`(${file}:3); hint: `);
});

test.each([
  ['selct 1', 'LINE 1: selct 1', 'selct'],
  ['select\n  seqno,\n  seqmo\nfrom blocks', 'LINE 3:   seqmo', 'seqmo'],
])('%j is shown with its line and a caret below the mistake', async (query, line, mistake) => {
  for (const output of [[], ['--output', join(freshFolder(), 'r.parquet')]]) {
    const { code, stderr } = await sql(query, ...output);
    const [error, shown, caret] = stderr.split('\n');
    expect([code, shown]).toEqual([1, line]);
    expect(error).toMatch(/^error: store: query: /);
    expect(caret).toBe(`${' '.repeat(line.indexOf(mistake))}^`);
  }
});

test.each(['-- nothing yet', '/* a;\n b */ ;\n-- c\n', ' ;; '])(
  'a file that holds no statement is refused in one line: %j',
  async (text) => {
    const refused = {
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: usage: expected a query, got [^\n]*\n$/),
    };
    expect(await sql('-f', queryFile(text))).toMatchObject(refused);
    expect(await sql(text)).toMatchObject(refused);
  },
);

describe('COPY', () => {
  const filesOf = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]);

  test('replaces no file of the warehouse, however its path is written', async () => {
    const before = filesOf(path);
    const [data = ''] = before.map(([file = '']) => file).filter((file) => file.endsWith('.parquet'));
    const link = join(freshFolder(), 'link');
    symlinkSync(path, link);
    for (const statement of [
      `copy (select 1 as a) to '${data}' (format parquet)`,
      `/* x */ COPY blocks TO "${data}" WITH (FORMAT parquet)`,
      `create temp table t as select 1 as a; copy t to '${data}'`,
      `explain analyze copy (select 1 as a) to 'file://${data}'`,
      `prepare p as copy (select 1 as a) to '${relative(process.cwd(), data)}'`,
      `copy (select 1 as a) to '${data.replace(path, link)}'`,
      `copy (select 1 as a) to '${join(path, 'new.csv')}'`,
      `copy (select 1 as a) to '${dirname(path)}' (format csv, partition_by (a), overwrite)`,
      `copy --x\r(select 1 as a) to '${data}'`,
      `/* a /* b */ c */ copy (select 1 as a) to '${data}'`,
      `export database '${path}'`,
      `export database memory to '${path}'`,
    ]) {
      const { code, stderr } = await sql(statement);
      expect([code, stderr], statement).toEqual([
        2,
        expect.stringMatching(/^error: usage: expected a path outside of the warehouse, got [^\n]*; hint: [^\n]*\n$/),
      ]);
    }
    for (const computed of [`('${data}')`, `$$${data}$$`, `e'${data}'`]) {
      const { code, stderr } = await sql(`copy (select 1 as a) to ${computed}`);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: usage: expected a path in quotes after TO/)]);
    }
    for (const output of [data, join(path, 'tables/new.csv'), join(path, 'tonlake.txt')]) {
      const { code, stderr } = await sql('select 1 as a', '--output', output);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^error: usage: expected a path outside of the warehouse/),
      ]);
    }
    expect(filesOf(path)).toEqual(before);
  });

  test('writes files elsewhere, and a text in a query is no path', async () => {
    const to = join(freshFolder(), "it's.csv");
    const query = `copy (select 'copy x to ${path}' as a) to '${to.replaceAll("'", "''")}' (header false)`;
    expect(await sql(query)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(to, 'utf8')).toBe(`copy x to ${path}\n`);
    expect(await sql(`select 'copy' as copy, '${path}' as "to"`)).toMatchObject({ code: 0 });
  });
});

describe('a comparison with another form than that of a column', () => {
  const hex = 'ab'.repeat(32);
  const base64 = Buffer.from(hex, 'hex').toString('base64');
  const friendly = 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs';

  test.each([
    [
      [`select count(*) from blocks b where b.root_hash = '${hex}'`],
      `root_hash never equals '${hex}': compare it with base64_hash('${hex}')`,
    ],
    [[`select 1 from blocks where root_hash not in ('x', '0x${hex}')`], `compare it with base64_hash('0x${hex}')`],
    [
      [`select 1 from transactions where '${friendly}' = account`],
      `account never equals '${friendly}': compare it with raw_address('${friendly}')`,
    ],
    [
      ['select 1 from transactions where account = $a', '-p', `a=0:${hex}`],
      'account never equals $a: compare it with raw_address($a)',
    ],
  ])('is noted: %j', async (args, note) => {
    const { code, stderr } = await sql(...args);
    expect([code, stderr]).toEqual([0, expect.stringContaining(note)]);
  });

  test('is noted only there', async () => {
    const query = `select 1 from blocks, transactions where root_hash = '${base64}' and root_hash = base64_hash('${hex}')
      and account = raw_address('${friendly}')`;
    expect((await sql(query)).stderr).not.toContain('never equals');
    const own = `select 1 from (select friendly_address(account) as account from transactions) where account = '${friendly}'`;
    expect((await sql(own)).stderr).not.toContain('never equals');
  });
});

test('a sum that is too large names the function that has all digits', async () => {
  const { code, stderr } = await sql(
    "select sum(x) from (select repeat('9', 38)::decimal(38, 0) as x from range(100))",
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/Overflow in HUGEINT.*; hint: .*exact_sum/);
});

test('an exact sum that does not fit fails, and names the functions that do not', async () => {
  const { code, stderr } = await sql(
    "select exact_sum(x) from (select repeat('9', 38)::decimal(38, 0) as x from range(100))",
  );
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /a sum of 100 numbers has more than 38 digits: use exact_sum_text\(x\) or try_exact_sum\(x\)/,
    ),
  ]);
});

test.each([
  ['select 1 from block', true],
  ['select nothing from blocks', true],
  ['select b.nothing from blocks b', true],
  ['install nosuch', false],
  ["from read_csv('/nowhere.csv')", false],
  ['select nosuch(1)', false],
  ['selec 1', false],
])('%s has the hint of tonlake show: %s', async (query, hasHint) => {
  const { code, stderr } = await sql(query);
  expect(code).toBe(1);
  expect(/hint: tonlake show .*shows tables and columns/.test(stderr)).toBe(hasHint);
});

describe('the result of tonlake sql', () => {
  test('is a Parquet file in which no integer became a float', async () => {
    const to = join(freshFolder(), 'r.parquet');
    const query = 'select sum(start_lt) as s, max(start_lt)::hugeint * 1000000 as h, uuid() as u from blocks;';
    expect((await sql(query, '--format', 'parquet', '--output', to)).code).toBe(0);
    const direct = await sql('select sum(start_lt) as s from blocks', '--format', 'csv');
    const database = await Database.open();
    const { columns, rows } = await database.query(`SELECT s, h, u FROM '${to}'`);
    database.close();
    expect(columns.map(({ type }) => type)).toEqual(['DECIMAL(38,0)', 'DECIMAL(38,0)', 'VARCHAR']);
    expect(`s\n${String(rows[0]?.[0])}\n`).toBe(direct.stdout);
  });

  test('is a file in the other forms as well', async () => {
    const to = join(freshFolder(), 'r.csv');
    const { stdout } = await sql('select 1 as a', '--format', 'csv', '-o', to);
    expect(stdout).toBe('');
    const database = await Database.open();
    expect((await database.query(`SELECT a FROM '${to}'`)).rows).toEqual([[1n]]);
    database.close();
  });

  test('has the form that the ending of its path says', async () => {
    const folder = freshFolder();
    for (const name of ['r.parquet', 'r.csv', 'r.JSON', 'r.txt']) {
      expect(await sql('select 1::integer as a', '-o', join(folder, name))).toMatchObject({ code: 0, stderr: '' });
    }
    const read = (name: string) => readFileSync(join(folder, name), 'latin1');
    expect(read('r.parquet')).toMatch(/^PAR1/);
    expect([read('r.csv'), read('r.JSON')]).toEqual(['a\n1\n', '[{"a":1}]\n']);
    expect(read('r.txt')).toMatch(/1 row\n$/);
  });

  test.each([
    [['-o', 'r.csv', '--format', 'json'], /expected a path that fits the format json, got r\.csv; hint: leave/],
    [['-o', 'r.parquet', '--format', 'box'], /expected a path that fits the format box, got r\.parquet/],
    [
      ['-o', 'r.html'],
      /expected a path that ends in \.txt, \.csv, \.json, \.jsonl, \.ndjson, \.parquet, got r\.html; hint: choose another/,
    ],
    [
      ['-o', 'r.xlsx'],
      /expected a path that ends in .*, got r\.xlsx; hint: choose another path, or set the format as well/,
    ],
    [['-o', 'r.txt', '--format', 'csv'], /expected a path that fits the format csv, got r\.txt/],
  ] as const)('is refused where its path says another form: %j', async (args, message) => {
    const { code, stderr } = await sql('select 1', ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test.each(['csv', 'parquet'])(
    'as %s makes the folder of its path, and takes the place of no folder',
    async (ending) => {
      const folder = freshFolder();
      const to = join(folder, 'new', 'deep', `r.${ending}`);
      expect(await sql('select 1 as a', '-o', to)).toMatchObject({ code: 0, stderr: '' });
      expect(readdirSync(dirname(to))).toEqual([`r.${ending}`]);
      const { code, stderr } = await sql('select 1 as a', '--format', ending, '-o', folder);
      expect([code, stderr]).toEqual([
        1,
        `error: store: file ${folder}: expected a file, or nothing, got a folder; hint: choose another path\n`,
      ]);
      expect(readdirSync(folder)).toEqual(['new']);
      const below = await sql('select 1 as a', '-o', join(to, `x.${ending}`));
      expect(below.stderr).toMatch(/^error: store: file [^\n]*; hint: choose another path\n$/);
    },
  );

  const canMakePipes = spawnSync('mkfifo', ['--version']).status !== null;
  test.skipIf(!canMakePipes)('takes the place of no pipe or device', async () => {
    const to = join(freshFolder(), 'pipe.csv');
    execFileSync('mkfifo', [to]);
    expect(await sql('select 1 as a', '-o', to)).toMatchObject({
      code: 1,
      stderr: `error: store: file ${to}: expected a file, or nothing, got a device or a pipe; hint: choose another path\n`,
    });
    expect(statSync(to).isFIFO()).toBe(true);
  });

  test('stays away when the query fails, and what was there stays', async () => {
    const to = join(freshFolder(), 'r.parquet');
    writeFileSync(to, 'before');
    const { code } = await sql("select error('no') as a from blocks", '--format', 'parquet', '-o', to);
    expect(code).toBe(1);
    expect(existsSync(to)).toBe(true);
    expect(readdirSync(dirname(to))).toEqual(['r.parquet']);
  });

  test.each(['csv', 'json', 'jsonl', 'box'])(
    'is no shorter one where the query fails in the midst of its rows: %s',
    async (format) => {
      const failing =
        "select case when range = 200000 then error('no such row') else range end as a from range(300000)";
      const to = join(freshFolder(), 'r');
      for (const place of [[], ['-o', to]]) {
        const { code, stderr } = await sql(failing, '--format', format, ...place);
        expect([code, stderr]).toEqual([1, expect.stringContaining('no such row')]);
      }
      expect(readdirSync(dirname(to))).toEqual([]);
    },
  );

  test('as Parquet needs a file', async () => {
    const { code, stderr } = await sql('select 1', '--format', 'parquet');
    expect(code).toBe(2);
    expect(stderr).toBe(
      'error: usage: expected --output with --format parquet, got none; hint: --output result.parquet\n',
    );
  });
});
