import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../src/export/run.ts';
import { shippedNames } from '../../src/sql/shipped-queries.ts';
import type { ColumnProfile, Names, ResultColumn, SavedQuery, TableDetail, TableItem } from '../../src/ui/ui-types.ts';
import { ownRelations } from '../../src/warehouse/query/state-relations.ts';
import { query } from '../e2e/export.ts';
import { goldenWarehouse } from '../golden-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { ask, exportSandbox, serveWarehouse, Visitor } from './support.ts';

const warehouse = await exportSandbox();
const queriesFolder = join(freshFolder(), 'queries');
const server = await serveWarehouse(warehouse, { queriesFolder });
const visitor = await Visitor.enter(server);

const page = (id: string, more: Readonly<Record<string, string | number>>) =>
  visitor.read<{ rows: readonly (readonly (string | null)[])[] }>(
    `/api/results/${id}/rows?${new URLSearchParams(Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)])))}`,
  );

describe('a query', () => {
  test('answers with columns, count, time, bytes and gaps; its rows are read in pages', async () => {
    const answer = await visitor.run('select hash, lt from transactions order by lt, hash');
    expect(answer).toMatchObject({
      ...{ status: 200, isCut: false, ms: expect.any(Number) },
      columns: [
        { name: 'hash', type: 'VARCHAR' },
        { name: 'lt', type: 'BIGINT' },
      ],
      warnings: ['transactions: missing 1040:1049 (not exported)'],
    });
    expect(answer.bytesRead).toBeGreaterThan(1000);
    const all = await query(warehouse, 'select hash, lt from transactions order by lt, hash');
    expect(answer.count).toBe(all.length);
    expect((await page(answer.id, { from: 700, count: 3 })).rows).toEqual(all.slice(700, 703));
    expect((await page(answer.id, { from: all.length - 1, count: 50 })).rows).toEqual(all.slice(-1));
    expect((await page(answer.id, { from: all.length, count: 50 })).rows).toEqual([]);
  });

  test('a column counts or measures by its declaration, or by its type if nobody declared its name', async () => {
    const { columns } = await visitor.run(
      `select total_fees, compute_gas_used, lt, max(lt), now, block_shard, compute_exit_code, count(*), sum(lt) as sum,
        'x' as value, 7 as small, 0.5::DOUBLE as share from transactions group by all limit 1`,
    );
    const isQuantity = Object.fromEntries(
      columns.map((column: ResultColumn): [string, boolean] => [column.name, column.isQuantity]),
    );
    expect(isQuantity).toEqual({
      ...{ total_fees: true, compute_gas_used: true, lt: false, 'max(lt)': false, now: false, block_shard: false },
      ...{ compute_exit_code: false, 'count_star()': true, sum: true, value: false, small: false, share: true },
    });
    const names = ['seqno', 'workchain', 'opcode', 'query_id', 'created_at', 'span_from', 'number', 'wallet_id'];
    const places = await visitor.run(`select ${names.map((name) => `12345::BIGINT as ${name}`).join(', ')}`);
    expect(places.columns.filter((column: ResultColumn) => column.isQuantity)).toEqual([]);
    const counted = await visitor.run('select 1::BIGINT as tx_count, 2::BIGINT as requests, 3::BIGINT as holder_count');
    expect(counted.columns.every((column: ResultColumn) => column.isQuantity)).toBe(true);
  });

  test('its result is sorted by any column, nulls last', async () => {
    const { id } = await visitor.run('from (values (2), (null), (10), (1)) as t(n)');
    expect((await page(id, { sort: 'n' })).rows.flat()).toEqual(['1', '2', '10', null]);
    expect((await page(id, { sort: 'n', order: 'desc', from: 1, count: 2 })).rows.flat()).toEqual(['2', '1']);
    expect((await visitor.get(`/api/results/${id}/rows?sort=n%22--`)).status).toBe(404);
  });

  test('parameters are bound, and never part of the SQL', async () => {
    const hostile = `x'; drop view transactions; --`;
    const { id } = await visitor.run('select $text as text, $n::INTEGER + 1 as n', { text: hostile, n: '41' });
    expect((await page(id, { from: 0, count: 1 })).rows).toEqual([[hostile, '42']]);
    expect(await visitor.run('select 1', { other: 'x' })).toMatchObject({
      ...{ status: 400, error: 'expected a parameter of the query, got other' },
    });
  });

  test('values keep all their digits and letters', async () => {
    const { id } = await visitor.run(
      `select 12345678901234567890123456789012345678::HUGEINT as a, 0.000000001::DECIMAL(38, 9) as b, '' as c, null as d,
        '<img src=x onerror=alert(1)>' as e, '\\xff'::BLOB as f, [1, 2] as g`,
    );
    expect((await page(id, { from: 0, count: 1 })).rows).toEqual([
      [
        '12345678901234567890123456789012345678',
        '0.000000001',
        '',
        null,
        '<img src=x onerror=alert(1)>',
        '\\xFF',
        '[1, 2]',
      ],
    ]);
  });

  test('more than a million rows are cut, and the last kept one is read at once', async () => {
    const answer = await visitor.run('select range as n from range(1000005)');
    expect(answer).toMatchObject({ count: 1_000_000, isCut: true });
    expect((await page(answer.id, { from: 999_999 })).rows).toEqual([['999999']]);
  });

  test('a wrong one says what is wrong, and where to look', async () => {
    expect(await visitor.run('select * from transactionz')).toMatchObject({
      ...{ status: 422, error: expect.stringContaining('Did you mean "transactions"?') },
      hint: 'tonlake show shows tables and columns',
      excerpt: `LINE 1: select * from transactionz\n${' '.repeat(22)}^`,
    });
    expect(await visitor.run('select\n  1 +\n  nothing')).toMatchObject({
      ...{ status: 422, excerpt: `LINE 3:   nothing\n${' '.repeat(10)}^` },
    });
    expect(await visitor.run('-- nothing yet')).toMatchObject({
      ...{ status: 400, error: 'expected a query, got comments alone' },
    });
    expect((await visitor.post('/api/runs', { sql: 7 })).status).toBe(400);
    expect((await visitor.post('/api/runs', { sql: 'select 1', more: 1 })).status).toBe(400);
  });

  test('text of a value is not taken for an interruption', async () => {
    for (const sql of [
      "select 'INTERRUPT Error: Interrupted!'::INTEGER",
      "select error('INTERRUPT Error: Interrupted!')",
      'select "INTERRUPT Error: Interrupted!" from transactions',
    ]) {
      const answer = await visitor.run(sql);
      expect([sql, answer.status, answer.code]).toEqual([sql, 422, 'failed']);
    }
  });

  const ENDLESS = 'select count(*) from range(100000000000) a, range(100000000000) b';

  test('one that takes too long is stopped', async () => {
    const hasty = await serveWarehouse(warehouse, { seconds: 0.2 });
    const guest = await Visitor.enter(hasty);
    expect(await guest.run(ENDLESS)).toMatchObject({
      ...{ status: 422, error: 'expected an end within 0.2 s, stopped' },
    });
  });

  test('one that takes too much memory fails, and the next one runs', async () => {
    const small = await serveWarehouse(warehouse, { memoryMb: 40 });
    const guest = await Visitor.enter(small);
    const greedy = 'select list(range) from range(20000000)';
    expect(await guest.run(greedy)).toMatchObject({ status: 422, error: expect.stringMatching(/memory/i) });
    expect(await guest.run('select 1')).toMatchObject({ status: 200 });
  });

  test('what the other pages read has the same limits: samples, profiles, reports, what is sought, where a row is from', async () => {
    const small = await serveWarehouse(warehouse, { memoryMb: 2 });
    const hasty = await serveWarehouse(warehouse, { seconds: 0.001 });
    const guest = await Visitor.enter(small);
    for (const path of [
      ...['tables/transactions/sample', 'tables/transactions/columns/lt/profile'],
      ...['reports/render?report=network-daily', 'explore?q=1000'],
    ]) {
      const { status, text } = await guest.get(`/api/${path}`);
      expect([path, status, text]).toEqual([path, 422, expect.stringContaining('Out of Memory')]);
    }
    const { status, text } = await (await Visitor.enter(hasty)).get('/api/explain?table=messages&key=direction%3Din');
    expect([status, text]).toEqual([422, expect.stringContaining('"error":"expected an end within ')]);
  });

  test('one whose page goes away is cancelled, so that others do not wait for it', async () => {
    const slow = await serveWarehouse(warehouse, { seconds: 3600 });
    const guest = await Visitor.enter(slow);
    const controllers = [1, 2, 3].map(() => new AbortController());
    const gone = controllers.map(({ signal }) =>
      fetch(`http://127.0.0.1:${slow.port}/api/runs`, {
        ...{ method: 'POST', signal, body: JSON.stringify({ sql: ENDLESS, params: {} }) },
        headers: { 'content-type': 'application/json', authorization: guest.authorization },
      }).catch((error: Error) => error.name),
    );
    await guest.get('/api/session');
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(gone)).toEqual(['AbortError', 'AbortError', 'AbortError']);
    expect(await guest.run('select 1')).toMatchObject({ status: 200 });
  });

  test('a CSV that is downloaded calculates nothing in a spreadsheet', async () => {
    const sql = `select '=1+1' as said, -5 as number, '-7.5' as text, '@x' as "=cmd"`;
    const { id } = await visitor.run(sql);
    const csv = await visitor.get(`/api/results/${id}/download?format=csv`);
    expect(csv.text).toBe("said,number,text,'=cmd\n'=1+1,-5,-7.5,'@x\n");
    const json = JSON.parse((await visitor.get(`/api/results/${id}/download?format=json`)).text);
    expect(json).toEqual([{ said: '=1+1', number: -5, text: '-7.5', '=cmd': '@x' }]);
  });

  test('results are downloaded whole, and equal the query', async () => {
    const { id, status, count } = await visitor.run('select lt, total_fees, hash from transactions order by lt, hash');
    expect(status).toBe(200);
    const rows = await query(warehouse, 'select lt, total_fees, hash from transactions order by lt, hash');
    const csv = await visitor.get(`/api/results/${id}/download?format=csv`);
    expect(csv.headers['content-disposition']).toBe('attachment; filename="result.csv"');
    expect(csv.text).toBe(`lt,total_fees,hash\n${rows.map((row) => row.join(',')).join('\n')}\n`);
    const json = JSON.parse((await visitor.get(`/api/results/${id}/download?format=json`)).text);
    expect(json.map((row: object) => Object.values(row).map(String))).toEqual(rows);
    const parquet = join(freshFolder(), 'result.parquet');
    const headers = { authorization: visitor.authorization };
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/results/${id}/download?format=parquet`, {
      headers,
    });
    writeFileSync(parquet, Buffer.from(await answer.arrayBuffer()));
    expect(await query(warehouse, `select lt, total_fees, hash from '${parquet}' order by lt, hash`)).toEqual(rows);
    const workbook = await fetch(`http://127.0.0.1:${server.port}/api/results/${id}/download?format=xlsx`, { headers });
    const parts = unzipSync(new Uint8Array(await workbook.arrayBuffer()));
    const sheet = strFromU8(parts['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
    const cells = [...sheet.matchAll(/<row>(.*?)<\/row>/g)].map(([, row = '']) =>
      [...row.matchAll(/<c[^>]*>(?:<v>|<is><t[^>]*>)([^<]*)</g)].map(([, value]) => value),
    );
    expect(cells).toEqual([['lt', 'total_fees', 'hash'], ...rows]);
    expect(count).toBe(rows.length);
    expect((await visitor.get(`/api/results/${id}/download?format=exe`)).status).toBe(400);
  });

  test('only the last four results are kept', async () => {
    const { id } = await visitor.run('select 1');
    for (let at = 0; at < 4; at++) await visitor.run('select 2');
    const { status, text } = await visitor.get(`/api/results/${id}/rows`);
    expect({ status, ...JSON.parse(text) }).toMatchObject({
      status: 404,
      code: 'unknown-result',
      hint: 'run the query again',
    });
  });
});

describe('tables', () => {
  test('are listed with rows and bytes, and described as tonlake show does', async () => {
    const tables = await visitor.read<readonly TableItem[]>('/api/tables');
    const [[count]] = (await query(warehouse, 'select count(*) from transactions')) as [[string]];
    expect(tables.find(({ name }) => name === 'transactions')).toMatchObject({ kind: 'table', rows: Number(count) });
    expect(tables.find(({ name }) => name === 'actions')).toMatchObject({ rows: null });
    expect(tables.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['table', 'view', 'mart']));
    const detail = await visitor.read<TableDetail>('/api/tables/transactions');
    expect(detail.columns.find(({ name }) => name === 'hash')).toMatchObject({ type: 'VARCHAR', isKey: true });
    expect(detail.gaps).toEqual(['transactions: missing 1040:1049 (not exported)']);
    expect(detail.newestFiles.map(({ entry }) => entry)).toHaveLength(detail.files ?? 0);
    expect((await visitor.get('/api/tables/transactionz')).status).toBe(404);
    expect((await visitor.get(`/api/tables/${encodeURIComponent('x" ; drop')}/sample`)).status).toBe(404);
  });

  test('every relation that has rows can be sampled and described', async () => {
    const tables = await visitor.read<readonly TableItem[]>('/api/tables');
    for (const { name } of tables.filter(
      ({ kind, rows, of }) => rows !== null || (kind === 'view' && of === 'messages'),
    )) {
      const sample = await visitor.read<{ rows: readonly unknown[] }>(`/api/tables/${name}/sample`);
      expect([name, Array.isArray(sample.rows)]).toEqual([name, true]);
    }
  });

  test.each(ownRelations)('what tells of the warehouse is a table: $name', async ({ name, grain, key, columns }) => {
    const tables = await visitor.read<readonly TableItem[]>('/api/tables');
    const { id } = await visitor.run(`select count(*), count(distinct (${key})) from ${name}`);
    const [[rows, keys] = []] = (await page(id, { from: 0, count: 1 })).rows;
    expect([rows, tables.find((each) => each.name === name)]).toEqual([
      keys,
      { name, kind: 'table', doc: grain, of: null, rows: Number(rows), bytes: null, files: null },
    ]);
    const detail = await visitor.read<TableDetail>(`/api/tables/${name}`);
    expect(detail).toMatchObject({ grain, key, gaps: [] });
    expect(detail.columns.filter(({ isKey }) => isKey).map((column) => column.name)).toEqual(key);
    const sample = await visitor.read<{ rows: readonly unknown[] }>(`/api/tables/${name}/sample`);
    expect(sample.rows).toHaveLength(Number(rows));
    for (const column of columns) {
      const profile = await visitor.read<ColumnProfile>(`/api/tables/${name}/columns/${column.name}/profile`);
      const { isNullable } = detail.columns.find((each) => each.name === column.name) ?? {};
      expect([column.name, profile.rows, isNullable || profile.nulls === 0]).toEqual([column.name, Number(rows), true]);
    }
    expect((await visitor.read<Names>('/api/names')).columns[name]).toEqual(columns.map((column) => column.name));
  });

  test('the list is read again after a commit', async () => {
    const grown = await goldenWarehouse(['blocks', '1000:1001']);
    const other = await serveWarehouse(grown);
    const guest = await Visitor.enter(other);
    const count = async () => {
      const tables = await guest.read<readonly TableItem[]>('/api/tables');
      const [blocks, commits, described] = [
        ...['blocks', '_commits'].map((name) => tables.find((each) => each.name === name)?.rows),
        (await guest.read<TableDetail>('/api/tables/_commits')).rows,
      ];
      return { blocks, commits, described };
    };
    const before = await count();
    await run({ pipelines: ['blocks'], network: 'sandbox', range: '1002:1004', warehouse: grown });
    const after = await count();
    expect([before.commits, before.described, after.commits, after.described]).toEqual([1, 1, 2, 2]);
    expect(after.blocks).toBeGreaterThan(before.blocks ?? 0);
  });

  test('the profile of a column is what SQL says', async () => {
    const of = (column: string) => visitor.read<ColumnProfile>(`/api/tables/transactions/columns/${column}/profile`);
    const [[rows, least, most]] = (await query(warehouse, 'select count(*), min(lt), max(lt) from transactions')) as [
      [string, string, string],
    ];
    const lt = await of('lt');
    expect(lt).toMatchObject({ rows: Number(rows), nulls: 0, least, most });
    expect(lt.bars.reduce((sum, { count }) => sum + count, 0)).toBe(Number(rows));
    const described = await of('descr');
    const counts = await query(
      warehouse,
      'select descr, count(*) from transactions group by 1 order by 2 desc, 1 limit 6',
    );
    expect(described.bars.map(({ label, count }) => [label, String(count)])).toEqual(counts);
    expect((await visitor.get('/api/tables/transactions/columns/nothing/profile')).status).toBe(404);
  });

  test('rows of a table are filtered and sorted without SQL; nothing of it becomes SQL', async () => {
    const sample = (more: Readonly<Record<string, string>>) =>
      visitor.get(`/api/tables/blocks/sample?${new URLSearchParams(more)}`);
    const rows = async (more: Readonly<Record<string, string>>) => JSON.parse((await sample(more)).text).rows.length;
    const [[hash, seqno]] = (await query(
      warehouse,
      'select root_hash, seqno from blocks where workchain = 0 order by seqno desc limit 1',
    )) as [[string, string]];
    expect(await rows({ filter: Buffer.from(hash, 'base64').toString('hex') })).toBeGreaterThan(0);
    expect(await rows({ filter: "' or true --" })).toBe(0);
    const sorted = JSON.parse((await sample({ sort: 'seqno', order: 'desc' })).text);
    const at = sorted.columns.findIndex(({ name }: { readonly name: string }) => name === 'seqno');
    expect(sorted.rows[0][at]).toBe((await query(warehouse, 'select max(seqno) from blocks'))[0]?.[0]);
    expect(Number(seqno)).toBeLessThanOrEqual(Number(sorted.rows[0][at]));
    expect((await sample({ sort: 'seqno" --' })).status).toBe(404);
    expect((await sample({ order: 'up' })).status).toBe(400);
  });

  test('names for completion are those of the shell', async () => {
    const names = await visitor.read<Names>('/api/names');
    expect(names.columns['transactions']).toContain('total_fees');
    expect(names.functions).toContain('friendly_address');
    expect(names.keywords).toContain('select');
  });
});

test('saved queries are the .sql files of the project folder', async () => {
  expect(await visitor.read('/api/saved')).toEqual([]);
  mkdirSync(queriesFolder);
  writeFileSync(join(queriesFolder, 'fees.sql'), 'select 1\n');
  writeFileSync(join(queriesFolder, 'notes.txt'), 'no query');
  expect(await visitor.read('/api/saved')).toEqual([{ name: 'fees', sql: 'select 1\n' }]);
});

describe('a query is saved', () => {
  const sql = 'select 1 as one';

  test('as NAME.sql of the folder that --queries names, and never over another file', async () => {
    const folder = join(freshFolder(), 'queries');
    const own = await serveWarehouse(warehouse, { queriesFolder: folder, savesQueries: true });
    const guest = await Visitor.enter(own);
    expect((await guest.post('/api/saved', { name: 'fees-2', sql })).status).toBe(200);
    expect(await guest.read('/api/saved')).toEqual([{ name: 'fees-2', sql: `${sql}\n` }]);
    symlinkSync(join(folder, 'nowhere'), join(folder, 'linked.sql'));
    for (const name of ['fees-2', 'linked']) {
      const { status, text } = await guest.post('/api/saved', { name, sql: 'select 2' });
      expect([status, JSON.parse(text).error]).toEqual([400, `expected a name that no query has, got ${name}`]);
    }
    expect(readFileSync(join(folder, 'fees-2.sql'), 'utf8')).toBe(`${sql}\n`);
    const lies = ['', 'a/b', '../up', '..', '.hidden', 'a.sql', 'C:x', 'a\\b', 'a\0', 'a b', 'x'.repeat(81), 7, null];
    for (const name of lies)
      expect([name, (await guest.post('/api/saved', { name, sql })).status]).toEqual([name, 400]);
    for (const text of ['', '  ', 'x'.repeat(200_001)])
      expect((await guest.post('/api/saved', { name: 'other', sql: text })).status).toBe(400);
    expect((await guest.post('/api/saved', { name: 'other', sql: "copy blocks to 'x.csv'" })).status).toBe(422);
    expect((await guest.post('/api/saved', { name: 'other', sql, folder: '/tmp' })).status).toBe(400);
    expect(
      (
        await ask(own.port, '/api/saved', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'other', sql }),
        })
      ).status,
    ).toBe(401);
    expect(readdirSync(folder).sort()).toEqual(['fees-2.sql', 'linked.sql']);
    expect(readdirSync(join(folder, '..'))).toEqual(['queries']);
  });

  test('not without --queries', async () => {
    const folder = join(freshFolder(), 'queries');
    const own = await serveWarehouse(warehouse, { queriesFolder: folder });
    const { status, text } = await (await Visitor.enter(own)).post('/api/saved', { name: 'fees', sql });
    expect([status, JSON.parse(text).error]).toEqual([400, 'expected a folder that the page may write, got none']);
    expect(existsSync(folder)).toBe(false);
  });
});

test('the questions that come with tonlake are listed; one whose mart was never built says how to build it', async () => {
  const questions = await visitor.read<readonly SavedQuery[]>('/api/questions');
  expect(questions.map(({ name }) => name)).toEqual(await shippedNames('questions'));
  const run = (name: string) => visitor.run(questions.find((question) => question.name === name)?.sql ?? '');
  expect(await run('trace_with_messages')).toMatchObject({ status: 200 });
  expect(await run('fees_by_day')).toMatchObject({ status: 422, hint: expect.stringMatching(/build gas_fees_daily/) });
});

test('a DuckDB warehouse can be written while results of it are looked at', async () => {
  const path = join(freshFolder(), 'w.duckdb');
  const what = { pipelines: ['blocks'], network: 'sandbox', warehouse: path };
  await run({ ...what, range: '1000:1009' });
  const other = await serveWarehouse(path);
  const guest = await Visitor.enter(other);
  const { id, count } = await guest.run('select seqno from blocks order by seqno');
  // Functions in JavaScript run beside the requests of the page on one thread alone.
  const threads = "select current_setting('threads') as threads from (select decode_body('x'::blob))";
  for (const each of [guest, visitor]) {
    const one = await each.run(threads);
    expect(JSON.parse((await each.get(`/api/results/${one.id}/rows?count=1`)).text).rows).toEqual([['1']]);
  }
  await run({ ...what, range: '1010:1019' });
  expect(JSON.parse((await guest.get(`/api/results/${id}/rows?count=1000`)).text).rows).toHaveLength(count);
  expect((await guest.run('select seqno from blocks')).count).toBeGreaterThan(count);
  expect(await guest.run(`copy (select 1) to '${path}.csv'`)).toMatchObject({ status: 422 });
});

test('nothing of a server is left when it ends', async () => {
  // Servers of other processes have folders in that of the system.
  const own = freshFolder();
  vi.stubEnv('TMPDIR', own);
  onTestFinished(() => void vi.unstubAllEnvs());
  const short = await serveWarehouse(warehouse);
  const guest = await Visitor.enter(short);
  await guest.run('select 1');
  expect(readdirSync(own)).toEqual([expect.stringMatching(/^tonlake-ui-/)]);
  await short.close();
  expect(readdirSync(own)).toEqual([]);
  await expect(ask(short.port, '/')).rejects.toThrow(/ECONNREFUSED/);
});
