import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { exportSandbox, texts } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';
import { ask, PASSWORD, POSTGRES, startPostgres } from './postgres-server.ts';
import { HARD_ROWS } from './support.ts';

describe.skipIf(POSTGRES === undefined)('PostgreSQL', () => {
  let path: string;
  let url: string;
  const env = { PGPASSWORD: PASSWORD };
  const send = (rows: string, ...args: readonly string[]) =>
    tonlake(['export', rows, '--to', url, '--warehouse', path, ...args], { env });

  beforeAll(async () => {
    [path, url] = await Promise.all([exportSandbox('4990:5009', ['transactions']), startPostgres()]);
  });

  test('a table arrives with types, key, index and comments, and every row equals its own', async () => {
    const { code, stderr } = await send('transactions');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^\d+ rows in postgres:\/\/127.*\/postgres: 2 days replaced\n$/),
    ]);
    const columns = (await texts(path, 'DESCRIBE transactions')).map(([name = '', type = '']) => ({ name, type }));
    const plain = columns.map(({ name, type }) =>
      type === 'BOOLEAN' ? `${name}::INTEGER::VARCHAR` : `${name}::VARCHAR`,
    );
    const list = plain.map((column) => `coalesce(${column}, 'null')`).join(', ');
    const own = await texts(path, `SELECT ${list} FROM transactions ORDER BY hash`);
    const theirs = await ask(url, `SELECT ${list} FROM transactions ORDER BY hash COLLATE "C"`);
    expect(own.length).toBeGreaterThan(100);
    expect(theirs).toEqual(own);
    const types = await ask(
      url,
      "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'transactions'::regclass AND attname IN ('lt', 'credit', 'aborted', 'block_date', 'block_time', 'hash') ORDER BY 1",
    );
    expect(Object.fromEntries(types as [string, string][])).toEqual({
      ...{ lt: 'bigint', credit: 'numeric(20,0)', aborted: 'boolean', block_date: 'date', hash: 'text' },
      block_time: 'timestamp without time zone',
    });
    expect(await ask(url, "SELECT indexdef FROM pg_indexes WHERE tablename = 'transactions' ORDER BY 1")).toEqual([
      [expect.stringContaining('btree (block_date)')],
      [expect.stringMatching(/UNIQUE INDEX .* btree \(hash\)/)],
    ]);
    expect(await ask(url, "SELECT obj_description('transactions'::regclass) LIKE 'one transaction%'")).toEqual([['t']]);
  });

  test('a repeated export replaces exactly its days, and a day that became empty is emptied', async () => {
    await send('transactions');
    await ask(url, 'UPDATE transactions SET total_fees = -1');
    const { stderr } = await send('transactions', '--days', '2026-05-02');
    expect(stderr).toMatch(/: 1 day replaced\n$/);
    expect(await ask(url, 'SELECT block_date, count(*) FROM transactions WHERE total_fees = -1 GROUP BY 1')).toEqual([
      ['2026-05-01', expect.any(String)],
    ]);
    await ask(url, "INSERT INTO transactions (hash, block_date) VALUES ('stray', '2026-05-03')");
    await send('transactions', '--days', '2026-05-02:2026-05-03');
    expect(await ask(url, "SELECT count(*) FROM transactions WHERE hash = 'stray'")).toEqual([['0']]);
    expect(
      await ask(
        url,
        "SELECT day, rows FROM _tonlake_exports WHERE table_name = 'transactions' ORDER BY 1 DESC LIMIT 1",
      ),
    ).toEqual([['2026-05-03', '0']]);
  });

  test('every class of value arrives as it is', async () => {
    const { code, stderr } = await send(HARD_ROWS, '--as', 'lake.hard');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    const bytes = "encode(bytes, 'hex')";
    const rows = await ask(
      url,
      `SELECT id, yes, small, large, word, wide, exact, near, words, ${bytes}, at, list::text FROM lake.hard ORDER BY id`,
    );
    const nines = '9'.repeat(38);
    expect(rows).toEqual([
      [
        ...['1', 't', '-2147483648', '9223372036854775807', '18446744073709551615', nines, '1.500', '0.1'],
        'tab\tline\nreturn\rback\\slash "quote" \' <b>&amp; ✓ 𝔗',
        ...['00ff5c0a27', '2026-05-01 23:59:59.123456', '[1,null,3]'],
      ],
      [
        '2',
        'f',
        '2147483647',
        '-9223372036854775808',
        '0',
        `-${nines}`,
        '-0.001',
        'NaN',
        '',
        '',
        '1969-12-31 23:59:59.999',
        '[]',
      ],
      ['3', ...Array.from({ length: 11 }, () => null)],
      [
        ...['4', 't', '0', '123456789012345', '1', '123456789012345', '2.000', '-Infinity'],
        ...['=HYPERLINK("http://x/","y")', 'e2', '2026-05-01 00:00:00', '[4]'],
      ],
      ['5', 't', '0', '0', '1', '0', '0.000', '1e+300', '\\N', '5c', '1900-01-01 00:00:00', '[5]'],
    ]);
  });

  test('the character U+0000 is replaced, and told', async () => {
    const { stderr } = await send("SELECT 'a' || chr(0) || 'b' AS words", '--as', 'zeros');
    expect(stderr).toContain('warning: 1 value (text): the character U+0000');
    expect(await ask(url, 'SELECT words FROM zeros')).toEqual([['a\ufffdb']]);
  });

  test('an export that fails in a day leaves that day as it was, and the days before it complete', async () => {
    const rows = (last: string) =>
      `SELECT d::DATE AS block_date, ${last} AS n FROM (SELECT unnest([DATE '2026-01-01', DATE '2026-01-02']) AS d)`;
    await send(rows('1'), '--as', 'steps');
    const { code, stderr } = await send(
      rows("CASE WHEN d > DATE '2026-01-01' THEN error('no')::INTEGER ELSE 2 END"),
      '--as',
      'steps',
    );
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: store: query: .*no/)]);
    expect(await ask(url, 'SELECT block_date, n FROM steps ORDER BY 1')).toEqual([
      ['2026-01-01', '2'],
      ['2026-01-02', '1'],
    ]);
  });

  test('a kill in the middle of a day leaves the rows as they were, and the next export replaces them', async () => {
    await send("SELECT 'old' AS state", '--as', 'killed');
    const slow = "SELECT 'new' || i AS state FROM range(50000000) t(i)";
    const running = startTonlake(['export', slow, '--as', 'killed', '--to', url, '--warehouse', path], { env });
    await expect
      .poll(() => ask(url, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%'"), { timeout: 200_000 })
      .toEqual([['1']]);
    running.kill('SIGKILL');
    await running.finished;
    await expect
      .poll(() => ask(url, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%'"), { timeout: 200_000 })
      .toEqual([['0']]);
    expect(await ask(url, 'SELECT state FROM killed')).toEqual([['old']]);
    expect((await send("SELECT 'newer' AS state", '--as', 'killed')).code).toBe(0);
    expect(await ask(url, 'SELECT state FROM killed')).toEqual([['newer']]);
  });

  test('tables of others, other types and other networks are refused before any row is removed', async () => {
    await ask(url, 'CREATE TABLE theirs AS SELECT 1 AS n');
    expect((await send('SELECT 2::INTEGER AS n', '--as', 'theirs')).stderr).toContain('was not made by tonlake');
    await send('SELECT 1::INTEGER AS n', '--as', 'ours');
    expect((await send("SELECT 'x' AS n", '--as', 'ours')).stderr).toContain(
      'expected column n of type text, got integer',
    );
    await ask(url, "UPDATE _tonlake_exports SET network = 'mainnet' WHERE table_name = 'ours'");
    expect((await send('SELECT 3::INTEGER AS n', '--as', 'ours')).stderr).toContain('holds mainnet, not sandbox');
    expect(await ask(url, 'SELECT t.n, o.n FROM theirs t, ours o')).toEqual([['1', '1']]);
  });

  test('a column that is new is added to the table', async () => {
    await send('SELECT 1::INTEGER AS n', '--as', 'grows');
    await send("SELECT 2::INTEGER AS n, 'x' AS words", '--as', 'grows');
    expect(await ask(url, 'SELECT n, words FROM grows')).toEqual([['2', 'x']]);
  });

  test('a wrong password is told without it, and one in the URL is refused', async () => {
    const wrong = await tonlake(['export', 'transactions', '--to', url, '--warehouse', path], {
      env: { PGPASSWORD: 'geheim1' },
    });
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: store: cannot connect to 127.*authentication failed.*PGPASSWORD/),
    ]);
    const shown = await send('transactions', '--to', url.replace('lake@', 'lake:geheim2@'));
    expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('a URL without a password')]);
    expect(wrong.stderr + shown.stderr).not.toMatch(/geheim/);
  });
});

test('a database that is down is told with its host and port, and not with a password', async () => {
  const warehouse = join(freshFolder(), 'w');
  await tonlake(['run', 'blocks', '--network', 'sandbox', '--range', '1000', '--warehouse', warehouse]);
  const to = ['--to', 'postgres://127.0.0.1:1/none', '--as', 'blocks'];
  const { code, stderr } = await tonlake(['export', 'blocks', ...to, '--warehouse', warehouse]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: store: cannot connect to 127\.0\.0\.1:1: .*hint: check the host and the port/m),
  ]);
  expect(stderr).not.toMatch(/password/i);
});
