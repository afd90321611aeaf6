import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { exportRows } from '../../src/targets/export-rows.ts';
import { type Running, startTonlake, tonlake } from '../cli.ts';
import { serve } from '../http/server.ts';
import { exportSandbox, texts } from '../marts/support.ts';
import { hasModules } from '../programs.ts';
import { askClickhouse, CLICKHOUSE_PASSWORD, forwardTo, startClickhouse } from './clickhouse-server.ts';
import { HARD_ROWS } from './support.ts';

const why = hasModules(['chdb']) ? '' : ' (no chdb in Python)';

describe.skipIf(why !== '')(`ClickHouse${why}`, () => {
  let path: string;
  let url: string;
  const env = { CLICKHOUSE_PASSWORD };
  const send = (rows: string, ...args: readonly string[]) =>
    tonlake(['export', rows, '--to', url, '--warehouse', path, ...args], { env });
  const ask = (sql: string) => askClickhouse(url, sql);

  /** As `send`, in this process. */
  const put = async (sql: string, as: string) => {
    process.env['CLICKHOUSE_PASSWORD'] = CLICKHOUSE_PASSWORD;
    try {
      return await exportRows(path, { sql }, url, { as });
    } finally {
      delete process.env['CLICKHOUSE_PASSWORD'];
    }
  };

  beforeAll(async () => {
    [path, url] = await Promise.all([exportSandbox('4990:5009', ['transactions']), startClickhouse()]);
  });

  test('a table arrives with types, order and comments, every row equals its own, and its days are replaced', async () => {
    const { code, stderr } = await send('transactions');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^\d+ rows in http:\/\/127.*\/default: 2 days replaced\n$/),
    ]);
    const columns = await texts(path, 'DESCRIBE transactions');
    const own = columns.map(([name, type]) => {
      if (type === 'BLOB') return `hex(${name})`;
      if (type === 'BOOLEAN') return `${name}::INTEGER::VARCHAR`;
      return type === 'TIMESTAMP' ? `strftime(${name}, '%Y-%m-%d %H:%M:%S.%f')` : `${name}::VARCHAR`;
    });
    const theirs = columns.map(([name, type]) => {
      if (type === 'BLOB') return `hex(${name})`;
      return type === 'BOOLEAN' ? `toString(toUInt8(${name}))` : `toString(${name})`;
    });
    const list = own.map((text) => `coalesce(${text}, 'null')`).join(', ');
    const expected = await texts(path, `SELECT ${list} FROM transactions ORDER BY hash`);
    expect(expected.length).toBeGreaterThan(100);
    const found = theirs.map((text) => `ifNull(${text}, 'null')`).join(', ');
    expect(await ask(`SELECT ${found} FROM transactions ORDER BY hash`)).toEqual(expected);
    const types = await ask("SELECT name, type, comment != '' FROM system.columns WHERE table = 'transactions'");
    const typeOf = (name: string) => types.find(([each]) => each === name)?.slice(1);
    expect(['hash', 'lt', 'credit', 'aborted', 'block_date', 'block_time'].map(typeOf)).toEqual([
      ['String', '1'],
      ['Nullable(Int64)', '1'],
      ['Nullable(Decimal(20, 0))', '1'],
      ['Nullable(Bool)', '1'],
      ['Nullable(Date32)', '1'],
      ["Nullable(DateTime64(6, \\'UTC\\'))", '1'],
    ]);
    expect(
      await ask("SELECT sorting_key, comment LIKE 'one transaction%' FROM system.tables WHERE name = 'transactions'"),
    ).toEqual([['block_date, hash', '1']]);

    // A repeated export replaces exactly its days, and empties one that has no rows now.
    const [[before]] = (await ask("SELECT count() FROM transactions WHERE block_date = '2026-05-01'")) as [[string]];
    await ask(
      "INSERT INTO transactions (hash, block_date) VALUES ('first', '2026-05-01'), ('second', '2026-05-02'), ('third', '2026-05-03')",
    );
    const again = await send('transactions', '--days', '2026-05-02:2026-05-03');
    expect(again.stderr).toMatch(/: 2 days replaced\n$/);
    expect(await ask("SELECT hash FROM transactions WHERE hash IN ('first', 'second', 'third')")).toEqual([['first']]);
    expect(await ask("SELECT count() FROM transactions WHERE block_date = '2026-05-01'")).toEqual([
      [String(Number(before) + 1)],
    ]);
    expect(
      await ask(
        "SELECT day, rows FROM _tonlake_exports FINAL WHERE table_name = 'transactions' ORDER BY 1 DESC LIMIT 1",
      ),
    ).toEqual([['2026-05-03', '0']]);
    expect(await ask("SELECT count() FROM system.tables WHERE name LIKE '%staging%'")).toEqual([['0']]);
  });

  test('every class of value arrives as it is', async () => {
    expect((await put(HARD_ROWS, 'hard')).warnings).toEqual([]);
    const nines = '9'.repeat(38);
    expect(
      await ask(
        'SELECT id, yes, small, large, word, wide, exact, near, hex(words), hex(bytes), at, list FROM hard ORDER BY id',
      ),
    ).toEqual([
      [
        ...['1', 'true', '-2147483648', '9223372036854775807', '18446744073709551615', nines, '1.5', '0.1'],
        Buffer.from('tab\tline\nreturn\rback\\slash "quote" \' <b>&amp; ✓ 𝔗').toString('hex').toUpperCase(),
        ...['00FF5C0A27', '2026-05-01 23:59:59.123456', '[1,null,3]'],
      ],
      [
        ...['2', 'false', '2147483647', '-9223372036854775808', '0', `-${nines}`, '-0.001', 'nan', '', ''],
        ...['1969-12-31 23:59:59.999000', '[]'],
      ],
      ['3', ...Array.from({ length: 11 }, () => '\\N')],
      [
        ...['4', 'true', '0', '123456789012345', '1', '123456789012345', '2', '-inf'],
        ...[Buffer.from('=HYPERLINK("http://x/","y")').toString('hex').toUpperCase(), 'E2'],
        ...['2026-05-01 00:00:00.000000', '[4]'],
      ],
      ['5', 'true', '0', '0', '1', '0', '0', '1e300', '5C4E', '5C', '1900-01-01 00:00:00.000000', '[5]'],
    ]);
    await put("SELECT 'a' || chr(0) || 'b' AS words", 'zeros');
    expect(await ask('SELECT hex(words) FROM zeros')).toEqual([['610062']]);
  });

  test('a date that ClickHouse cannot hold is an error, and the rows stay as they were', async () => {
    await put("SELECT DATE '2299-12-31' AS seen", 'dates');
    await expect(put("SELECT DATE '2300-01-01' AS seen", 'dates')).rejects.toThrow(
      /column seen: expected a date from 1900-01-01 to 2299-12-31, which ClickHouse can hold, got 2300-01-01/,
    );
    expect(await ask('SELECT seen FROM dates')).toEqual([['2299-12-31']]);
  });

  test('an export that fails in a day leaves that day as it was, and the days before it complete', async () => {
    const rows = (last: string) =>
      `SELECT d::DATE AS block_date, ${last} AS n FROM (SELECT unnest([NULL, DATE '2026-01-01', DATE '2026-01-02']) AS d)`;
    await put(rows('1'), 'steps');
    await expect(
      put(rows("CASE WHEN d > DATE '2026-01-01' THEN error('no')::INTEGER ELSE 2 END"), 'steps'),
    ).rejects.toThrow(/no/);
    expect(await ask('SELECT block_date, n FROM steps ORDER BY 1 NULLS FIRST')).toEqual([
      ['\\N', '2'],
      ['2026-01-01', '2'],
      ['2026-01-02', '1'],
    ]);
    expect(await ask("SELECT count() FROM system.tables WHERE name LIKE '%staging%'")).toEqual([['0']]);
  });

  test.each([
    { at: 'before the table is recorded as ours', statement: /INTO .*_tonlake_exports/, time: 1, isDone: false },
    {
      at: 'before the rows of the second day are there',
      statement: /^INSERT INTO .*_staging_/,
      time: 2,
      isDone: false,
    },
    { at: 'after the first day was replaced, before that is recorded', statement: /REPLACE/, time: 1, isDone: true },
    { at: 'after the second day was replaced', statement: /REPLACE/, time: 2, isDone: true },
  ])('a kill $at leaves whole days, and a repeated export exactly its days', async ({ statement, time, isDone }) => {
    const as = `killed_${statement.source.length}_${time}`;
    const args = ['--warehouse', path, '--as', as];
    let running: Running | undefined;
    let left = time;
    const relay = await serve(async (request, response) => {
      const { url: target = '', headers } = request;
      const query = new URL(target, url).searchParams;
      const body = await text(request);
      const sql = `${query.get('query') ?? ''}${body}`;
      const isPlace = statement.test(sql.replaceAll(/\s+/g, ' ')) && --left === 0;
      if (isPlace && !isDone) running?.kill('SIGKILL');
      const forwarded = isPlace && !isDone ? undefined : await forwardTo(url, query, body, headers);
      if (isPlace) running?.kill('SIGKILL');
      response.writeHead(forwarded?.status ?? 500).end(forwarded?.body);
    });
    const counts = () => ask(`SELECT block_date, count(), uniqExact(hash) FROM ${as} GROUP BY 1 ORDER BY 1`);
    const own = await texts(path, 'SELECT block_date, count(*), count(*) FROM transactions GROUP BY 1 ORDER BY 1');
    running = startTonlake(['export', 'transactions', '--to', `http://lake@127.0.0.1:${relay.port}/default`, ...args], {
      env,
    });
    expect((await running.finished).signal).toBe('SIGKILL');
    expect(own).toEqual(expect.arrayContaining([...(await counts())]));
    // A row that was added to a day since is gone after the repeat; a table with rows that is not recorded would be refused.
    const isRecorded = !statement.source.includes('exports');
    if (isRecorded) await ask(`INSERT INTO ${as} (hash, block_date) VALUES ('other', '${own[0]?.[0]}')`);
    expect((await send('transactions', '--as', as)).stderr).toMatch(/: 2 days replaced\n$/);
    expect(await counts()).toEqual(own);
    const recorded = `SELECT day, rows, rows FROM _tonlake_exports FINAL WHERE table_name = '${as}' AND rows > 0 ORDER BY 1`;
    expect(await ask(recorded)).toEqual(own);
  });

  test('tables of others, other types and other networks are refused before any row is removed; a new column is added', async () => {
    await ask('CREATE TABLE theirs (n Nullable(Int32)) ENGINE = MergeTree ORDER BY tuple()');
    await ask('INSERT INTO theirs VALUES (1)');
    await expect(put('SELECT 2::INTEGER AS n', 'theirs')).rejects.toThrow(/was not made by tonlake/);
    await put('SELECT 1::INTEGER AS n', 'ours');
    await expect(put("SELECT 'x' AS n", 'ours')).rejects.toThrow(
      /expected column n of type Nullable\(String\), got nullable\(int32\)/,
    );
    await expect(put("SELECT 1::INTEGER AS n, DATE '2026-01-01' AS block_date", 'ours')).rejects.toThrow(
      /expected a partition for each day/,
    );
    await put("SELECT 2::INTEGER AS n, 'x' AS words", 'ours');
    expect(await ask('SELECT n, words FROM ours')).toEqual([['2', 'x']]);
    await ask("INSERT INTO _tonlake_exports VALUES ('ours', 'x', 0, 'mainnet', '2100-01-01 00:00:00')");
    await expect(put('SELECT 3::INTEGER AS n', 'ours')).rejects.toThrow(/holds mainnet, not sandbox/);
    expect(await ask('SELECT t.n, o.n FROM theirs t, ours o')).toEqual([['1', '2']]);
  });

  test('a wrong password is told without it', async () => {
    const wrong = await tonlake(['export', 'transactions', '--to', url, '--warehouse', path], {
      env: { CLICKHOUSE_PASSWORD: 'geheim1' },
    });
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: store: cannot connect to ClickHouse at 127.*Authentication failed.*CLICKHOUSE_PASSWORD/,
      ),
    ]);
    expect(wrong.stderr).not.toMatch(/geheim/);
  });
});

test('a password in the URL of ClickHouse is refused without showing it, and so are parameters', async () => {
  const path = '/nowhere';
  await expect(exportRows(path, { table: 'blocks' }, 'https://lake:geheim@host:8443/default')).rejects.toThrow(
    /^usage: expected a URL without a password(?!.*geheim)/,
  );
  await expect(exportRows(path, { table: 'blocks' }, 'https://host:8443/default?password=geheim')).rejects.toThrow(
    /^usage: expected (?!.*geheim)/,
  );
  await expect(exportRows(path, { table: 'blocks' }, 'https://host:8443/a/b')).rejects.toThrow(
    /expected the URL of a ClickHouse database/,
  );
});
