import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { boxOf } from '../../src/sql/text-table.ts';
import { withQueries } from '../../src/warehouse/query/query.ts';
import { tonlake } from '../cli.ts';
import { hashTables } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';

const VALUES = `select 9223372036854775807::BIGINT as big, -170141183460469231731687303715884105727::HUGEINT as huge,
  99999999999999999999999999999999999999::DECIMAL(38,0) as amount, 1.50::DECIMAL(9,2) as price, true as yes,
  '\\xAA\\x00a"'::BLOB as body, TIMESTAMP '2026-05-01 01:02:03.5' as at, DATE '2026-05-01' as day,
  null as none, '' as empty, 'a "b"' || chr(10) || 'c,d' as said, '{"a":[1]}'::JSON as extra, [1, 2] as list`;

const folder = freshFolder();
const path = join(folder, 'w');
const run = ['run', '--network', 'sandbox', '--range', '1000:1009', '--warehouse'];
expect((await tonlake([...run, path])).code).toBe(0);
expect((await tonlake([...run, join(folder, 'w.duckdb')])).code).toBe(0);

const sql = (query: string, ...more: readonly string[]) => tonlake(['sql', query, '--warehouse', path, ...more]);

describe('tonlake sql', () => {
  test('json is one array of objects, with every digit', async () => {
    const { code, stdout, stderr } = await sql(VALUES, '--format', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      '[{"big":9223372036854775807,"huge":-170141183460469231731687303715884105727,' +
        '"amount":99999999999999999999999999999999999999,"price":1.50,"yes":true,"body":"\\\\xAA\\\\x00a\\\\x22",' +
        '"at":"2026-05-01 01:02:03.5","day":"2026-05-01","none":null,"empty":"","said":"a \\"b\\"\\nc,d",' +
        '"extra":"{\\"a\\":[1]}","list":[1,2]}]\n',
    );
    expect((await sql('select 1 as a union all select 2 order by 1', '--format', 'json')).stdout).toBe(
      '[{"a":1},\n{"a":2}]\n',
    );
    expect((await sql('select 1 as a where false', '--format', 'json')).stdout).toBe('[]\n');
  });

  test('json nests what is nested, and writes what is inside as it stands alone', async () => {
    const inside = ['big', 'huge', 'amount', 'price', 'yes', 'body', 'at', 'day', 'none', 'empty', 'said', 'extra'];
    const alone = await sql(VALUES, '--format', 'json');
    const fields = inside.map((name) => `'${name}': v."${name}"`).join(', ');
    const { stdout } = await sql(`with v as (${VALUES}) select [{${fields}}, null] as list from v`, '--format', 'json');
    expect(stdout).toBe(`[{"list":[${alone.stdout.slice(1).replace(/,"list":.*/s, '}')},null]}]\n`);
    const more =
      "select map {'k': [1, 2], 'z': null} as m, map {7: 'x'} as by_number, [1, 2]::bigint[2] as pair, union_value(n := 5) as either, {'d': 'nan'::double} as s, [] as empty";
    expect((await sql(more, '--format', 'json')).stdout).toBe(
      '[{"m":{"k":[1,2],"z":null},"by_number":{"7":"x"},"pair":[1,2],"either":{"n":5},"s":{"d":null},"empty":[]}]\n',
    );
    const nested = await sql("select [1, 2] as l, {'a': 1, 'b': [null, 'x']} as s", '--format', 'csv');
    expect(nested.stdout).toBe("l,s\n\"[1, 2]\",\"{'a': 1, 'b': [NULL, 'x']}\"\n");
  });

  test('csv quotes what must be quoted, and tells an empty text from a null', async () => {
    const { stdout } = await sql(VALUES, '--format', 'csv');
    expect(stdout).toBe(
      'big,huge,amount,price,yes,body,at,day,none,empty,said,extra,list\n' +
        '9223372036854775807,-170141183460469231731687303715884105727,99999999999999999999999999999999999999,1.50,true,' +
        '\\xAA\\x00a\\x22,2026-05-01 01:02:03.5,2026-05-01,,"","a ""b""\nc,d","{""a"":[1]}","[1, 2]"\n',
    );
    expect((await sql('select 1 as a where false', '--format', 'csv')).stdout).toBe('a\n');
  });

  test('box is a table, in which nothing of the chain can steer the terminal', async () => {
    const { stdout } = await sql(
      "select 7 as n, chr(27) || '[31m' || chr(10) as said, null as none",
      '--format',
      'box',
    );
    expect(stdout).toBe(
      [
        '┌───┬──────────────┬──────┐',
        '│ n │ said         │ none │',
        '├───┼──────────────┼──────┤',
        '│ 7 │ \\u001b[31m\\n │ NULL │',
        '└───┴──────────────┴──────┘',
        '1 row',
        '',
      ].join('\n'),
    );
  });

  test('--file runs a file of statements and shows the rows of the last', async () => {
    const file = join(folder, 'report.sql');
    writeFileSync(
      file,
      "-- question: how many?\nset variable least = 1005;\nselect count(distinct mc_block_seqno) as n\nfrom blocks where mc_block_seqno >= getvariable('least');\n",
    );
    const { stdout, stderr } = await tonlake(['sql', '--file', file, '--warehouse', path, '--format', 'csv']);
    expect({ stdout, stderr }).toEqual({ stdout: 'n\n5\n', stderr: '' });
  });

  test('a wrong query is one line with a hint, and its place', async () => {
    const { code, stdout, stderr } = await sql('select *\nfrom transactionz');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: store: query: [^\n]*transactionz[^\n]*; hint: tonlake show[^\n]*\nLINE 2: from transactionz\n {13}\^\n$/,
    );
  });

  test.each(['w', 'w.duckdb'])('a query cannot change %s', async (name) => {
    const warehouse = join(folder, name);
    const before = await hashTables(warehouse);
    for (const query of [
      'delete from transactions',
      'update transactions set lt = 1',
      'insert into blocks by name select 1 as seqno',
      'create view x as select 1',
      'drop view if exists actions_call_contract',
    ]) {
      const box = withQueries(warehouse, {}, ({ read }) => read(query, boxOf));
      await expect(box, query).rejects.toMatchObject({ code: 'read-only' });
    }
    const { code, stdout, stderr } = await tonlake(['sql', 'create table x as select 1', '--warehouse', warehouse]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: store: query: queries cannot change a warehouse \([^\n]*\); hint: use CREATE TEMP [^\n]*\n$/,
    );
    expect(await hashTables(warehouse)).toEqual(before);
  });

  test('what is temporary may be made on the way to the result', async () => {
    const query =
      'create temp table t as select max(mc_block_seqno) as n from blocks; create temp macro next(x) as x + 1; select next(n) as n from t';
    for (const name of ['w', 'w.duckdb']) {
      const { stdout } = await tonlake(['sql', query, '--warehouse', join(folder, name), '--format', 'csv']);
      expect(stdout).toBe('n\n1010\n');
    }
  });

  test('rows of a statement before the last are not dropped: such a query is refused', async () => {
    for (const query of ['select 1 as a; select 2 as b', 'explain select 1; select 2', 'from blocks; select 1;']) {
      const { code, stdout, stderr } = await sql(query);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(
        /^error: store: query: expected rows from the last statement alone, got some from statement 1 of 2; hint: [^\n]*\n$/,
      );
    }
    expect((await sql('select 1 as a; -- that is all', '--format', 'csv')).stdout).toBe('a\n1\n');
  });
});

test.each(['blocks', 'messages'])('tonlake show lists --files what holds %s', async (table) => {
  const { code, stdout, stderr } = await tonlake(['show', table, '--files', '--warehouse', path]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const files = stdout.trimEnd().split('\n');
  expect(files.every((file) => isAbsolute(file) && existsSync(file))).toBe(true);
  const list = files.map((file) => `'${file}'`).join(', ');
  const counts = await sql(
    `select (select count(*) from read_parquet([${list}])) = (select count(*) from ${table}) as same, (select count(*) from ${table}) > 0 as some`,
    '--format',
    'csv',
  );
  expect(counts.stdout).toBe('same,some\ntrue,true\n');
});

test('tonlake show of --files a DuckDB warehouse lists nothing, and says why', async () => {
  const warehouse = join(folder, 'w.duckdb');
  const stderr = `no Parquet files: a DuckDB warehouse is a single file, ${warehouse}\n`;
  expect(await tonlake(['show', 'blocks', '--files', '--warehouse', warehouse])).toMatchObject({
    code: 0,
    stdout: '',
    stderr,
  });
});

test('tonlake show of --files a table without rows says so', async () => {
  const stderr = `no Parquet files: traces has no rows in ${path}\n`;
  expect(await tonlake(['show', 'traces', '--files', '--warehouse', path])).toMatchObject({
    code: 0,
    stdout: '',
    stderr,
  });
});

test('tonlake show of --files a mart that is not built says so', async () => {
  for (const name of ['w', 'w.duckdb']) {
    const place = join(folder, name);
    const stderr = `error: mart transactions_daily: expected a built mart, got one that is not built yet; hint: tonlake build --warehouse ${place} transactions_daily\n`;
    const files = ['show', 'transactions_daily', '--files', '--warehouse', place];
    expect(await tonlake(files)).toMatchObject({ code: 1, stdout: '', stderr });
  }
});

describe('tonlake show', () => {
  test('shows the tables, and the columns of one', async () => {
    const all = await tonlake(['show']);
    expect(all.code).toBe(0);
    for (const table of ['blocks', 'transactions', 'messages', 'account_states', 'quarantine']) {
      expect(all.stdout).toMatch(new RegExp(`^${table} `, 'm'));
    }
    const one = await tonlake(['show', 'transactions']);
    expect(one.stdout).toMatch(/^key \(.+\), sorted by \(.+\), partitioned by block_date$/m);
    expect(one.stdout).toMatch(/^lt +BIGINT +\S/m);
  });

  test.each(['_commits', '_coverage', '_freshness'])('tells of the warehouse itself, too: %s', async (name) => {
    const { code, stdout } = await tonlake(['show', name]);
    expect(code).toBe(0);
    const told = [...stdout.matchAll(/^(\w+) +([A-Z]+) +\S/gm)].map(([, name, type]) => `${name},${type}`);
    for (const warehouse of [path, join(folder, 'w.duckdb')]) {
      const query = `select column_name, column_type from (describe ${name})`;
      const real = await tonlake(['sql', query, '--warehouse', warehouse, '--format', 'csv']);
      expect(told).toEqual(real.stdout.trimEnd().split('\n').slice(1));
    }
    const [described] = JSON.parse((await tonlake(['show', name, '--json'])).stdout);
    expect(described).toMatchObject({ table: name, key: expect.any(Array) });
    expect(told).toEqual(expect.arrayContaining(described.key.map((key: string) => expect.stringMatching(`^${key},`))));
  });

  test('--json names every column as the warehouse has it', async () => {
    const { stdout } = await tonlake(['show', 'messages', '--json']);
    const [{ table, columns }] = JSON.parse(stdout);
    expect(table).toBe('messages');
    const real = await sql('select column_name, column_type from (describe messages)', '--format', 'json');
    expect(columns.map(({ name, type }: Record<string, string>) => ({ column_name: name, column_type: type }))).toEqual(
      JSON.parse(real.stdout),
    );
  });
});

test('tonlake status --json is one object', async () => {
  for (const store of ['parquet', 'duckdb']) {
    const warehouse = store === 'parquet' ? path : join(folder, 'w.duckdb');
    const { code, stdout, stderr } = await tonlake(['status', '--json', '--warehouse', warehouse]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const shared = {
      proven: [{ from: 1000, to: 1009 }],
      unproven: [],
      missing: [],
      leftOut: [],
      blocks: 10,
      files: expect.any(Number),
      bytes: expect.any(Number),
      commits: 1,
      days: [{ date: '2026-05-01', from: 1000, to: 1009, blocks: 10, hasStart: false, hasEnd: false }],
      lastCommit: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    const counts = {
      transactions: expect.any(Number),
      messages: expect.any(Number),
      account_states: expect.any(Number),
    };
    expect(JSON.parse(stdout)).toEqual({
      ...{ network: 'sandbox', warehouse, store, quarantined: 0 },
      newest: { seqno: 1009, time: '2026-05-01T23:33:23.000Z' },
      pipelines: [
        { pipeline: 'blocks', rows: { blocks: expect.any(Number) }, ...shared },
        { pipeline: 'transactions', rows: counts, ...shared },
      ],
      marts: [],
    });
  }
});

describe('tonlake publish duckdb', () => {
  async function countThroughCatalog(warehouse: string): Promise<bigint> {
    const instance = await DuckDBInstance.create(join(warehouse, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
    const connection = await instance.connect();
    try {
      const reader = await connection.runAndReadAll('select count(*) from transactions');
      return reader.getRows()[0]?.[0] as bigint;
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  test('lets other DuckDB clients read a warehouse that was moved', async () => {
    const from = join(freshFolder(), 'w');
    expect((await tonlake(['run', '--network', 'sandbox', '--range', '1000:1004', '--warehouse', from])).code).toBe(0);
    const count = await countThroughCatalog(from);
    const to = join(freshFolder(), "moved it's");
    renameSync(from, to);
    expect(await countThroughCatalog(to)).toBe(count);
    const { code, stdout, stderr } = await tonlake(['publish', 'duckdb', '--warehouse', to]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${join(to, 'warehouse.duckdb')}\n`, stderr: '' });
    expect(await countThroughCatalog(to)).toBe(count);
  });
});

describe('tonlake run without a range', () => {
  test('reads lists that change, as they are at the head', async () => {
    const lists = join(freshFolder(), 'w');
    const { code, stdout } = await tonlake([
      ...['run', 'jetton_masters', 'nft_collections', '--network', 'sandbox', '--warehouse', lists, '--json'],
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/"from":10000,"to":10000.*"jetton_masters":\d+/);
  });

  test('tells next a query of a table that was exported', async () => {
    const lists = join(freshFolder(), 'w');
    const run = ['run', 'jetton_masters', 'jetton_masters', '--network', 'sandbox', '--warehouse', lists];
    const { stdout } = await tonlake(run);
    expect(stdout).toMatch(/^exported, unproven: jetton_masters \d/);
    expect(stdout).toContain(`sql "select count(*) from jetton_masters" --warehouse ${lists}\n`);
  });

  test('is refused where rows depend on it', async () => {
    const { code, stderr } = await tonlake(['run', 'jetton_masters', 'blocks', '--network', 'sandbox']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error: usage: expected --range for blocks; hint: --range 1000:1999, or -1000:\n',
    });
  });
});
