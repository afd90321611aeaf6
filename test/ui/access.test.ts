import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import type { UiServer } from '../../src/ui/serve-ui.ts';
import { servePages } from '../browser/pages.ts';
import { HAS_BUCKETS, startS3, useS3 } from '../objects/s3-server.ts';
import { closing, freshFolder } from '../scratch.ts';
import { ask, exportSandbox, keyOf, serveWarehouse, spend, Visitor } from './support.ts';

let warehouse: string;
let server: UiServer;
let visitor: Visitor;

beforeAll(async () => {
  warehouse = await exportSandbox();
  server = await serveWarehouse(warehouse);
  visitor = await Visitor.enter(server);
});

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

describe('who gets an answer', () => {
  test('the key of the first address gives one tab a session, and no cookie, which each port of this machine would get', async () => {
    const own = await serveWarehouse(warehouse);
    const key = keyOf(own.url);
    expect((await spend(own.port, 'x'.repeat(32))).status).toBe(401);
    const { status, text, headers } = await spend(own.port, key);
    expect([status, headers['set-cookie']]).toEqual([200, undefined]);
    const { session } = JSON.parse(text);
    expect(session).not.toBe(key);
    const open = async (bearer: string) =>
      (await ask(own.port, '/api/session', { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect([await open(session), await open(key)]).toEqual([200, 401]);
    const second = await spend(own.port, key);
    expect([second.status, second.text]).toEqual([
      401,
      'This tab has no key. The address that tonlake ui printed opens one tab, which keeps its key until it is closed: go on there, or start tonlake ui again for a new address.\n',
    ]);
  });

  test('without a session, or with a wrong one, nothing is told but the files of the page', async () => {
    const wrong = [{}, { authorization: `Bearer ${'x'.repeat(32)}` }, { cookie: `session=${visitor.authorization}` }];
    for (const path of ['/api/session', '/api/tables', '/api/events', '/api/no', '/api/results/1/rows']) {
      for (const headers of wrong) {
        const { status, text } = await ask(server.port, path, { headers });
        expect({ path, status, isHelp: text.startsWith('This tab has no key.') }).toEqual({
          ...{ path, status: 401, isHelp: true },
        });
      }
    }
    const page = await ask(server.port, '/tables');
    expect([page.status, page.text.includes('<div id="app">'), page.text.includes(warehouse)]).toEqual([
      200,
      true,
      false,
    ]);
  });

  test('what a frame or a download shows is found by its random id alone, and by no other', async () => {
    const { id } = await visitor.run('select 41 + 1 as answer');
    const download = (of: string) => ask(server.port, `/api/results/${of}/download?format=csv`);
    expect(await download(id)).toMatchObject({ status: 200, text: 'answer\n42\n' });
    expect((await download(crypto.randomUUID())).status).toBe(404);
    expect((await ask(server.port, `/api/results/${id}/rows`)).status).toBe(401);
    const evil = { headers: { 'sec-fetch-site': 'cross-site' } };
    expect((await ask(server.port, `/api/results/${id}/download?format=csv`, evil)).status).toBe(403);
  });

  test('a name that was rebound to this machine is refused, whatever its key', async () => {
    const unused = await serveWarehouse(warehouse);
    const key = keyOf(unused.url);
    const hosts = ['evil.example', `evil.example:${server.port}`, '127.0.0.1', `127.0.0.1:${server.port}.evil.example`];
    for (const host of hosts) {
      expect([400, 403]).toContain((await visitor.get('/api/session', { host })).status);
      const asUnused = host.replace(`${server.port}`, `${unused.port}`);
      expect([400, 403]).toContain((await spend(unused.port, key, { host: asUnused })).status);
    }
    expect((await spend(unused.port, key)).status).toBe(200);
    expect((await visitor.get('/api/session', { host: `localhost:${server.port}` })).status).toBe(200);
  });

  test('requests of another origin are refused', async () => {
    for (const origin of [
      'http://evil.example',
      'null',
      `http://127.0.0.1:${server.port + 1}`,
      `https://127.0.0.1:${server.port}`,
    ]) {
      expect([origin, (await visitor.get('/api/session', { origin })).status]).toEqual([origin, 403]);
      expect((await visitor.post('/api/runs', { sql: 'select 1' }, { origin })).status).toBe(403);
    }
    for (const site of ['cross-site', 'same-site']) {
      expect((await visitor.get('/api/session', { 'sec-fetch-site': site })).status).toBe(403);
    }
    const own = { origin: `http://127.0.0.1:${server.port}`, 'sec-fetch-site': 'same-origin' };
    expect((await visitor.post('/api/runs', { sql: 'select 1' }, own)).status).toBe(200);
  });

  test('a form of another page cannot send a query', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await visitor.post('/api/runs', { sql: 'select 1' }, { 'content-type': type })).status).toBe(415);
    }
  });

  test('only reading methods are there', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const headers = { authorization: visitor.authorization };
      expect((await ask(server.port, '/api/tables', { method, headers })).status).toBe(405);
    }
  });

  test('paths reach the files of the page and no others', async () => {
    const paths = [
      '/assets/../../../package.json',
      '/assets/..%2f..%2fpackage.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets//etc/passwd',
      '/../../../../etc/passwd',
      '/assets/inputs.json',
      '/api/results/../../etc/passwd/rows',
    ];
    for (const path of paths) {
      const { text, headers } = await visitor.get(path);
      expect([path, /root:|"name"|"files"/.test(text)]).toEqual([path, false]);
      // What is no file is the page itself, or nothing.
      expect(String(headers['content-type'])).toMatch(/^text\/(html|plain)/i);
    }
  });

  test('a browser keeps the files of the page, asks whether they have changed, and keeps no answer with data', async () => {
    const { status, headers, text } = await visitor.get('/assets/main.js');
    expect([status, headers['cache-control'], text.length > 1000]).toEqual([200, 'private, no-cache', true]);
    const known = { 'if-none-match': String(headers['etag']) };
    const again = await visitor.get('/assets/main.js', known);
    expect([again.status, again.text]).toEqual([304, '']);
    for (const path of ['/', '/api/session', '/api/tables']) {
      expect((await visitor.get(path, known)).headers['cache-control']).toBe('no-store');
    }
  });

  test('files of the page are compressed for a browser that takes it: without a chart, all of them are less than 200 kB', async () => {
    const folder = fileURLToPath(new URL('../../dist/ui/', import.meta.url));
    let total = 0;
    for (const name of readdirSync(folder).filter((each) => /\.(js|css)$/.test(each))) {
      const [plain, packed] = await Promise.all(
        ['identity', 'gzip, br'].map((accepted) => visitor.get(`/assets/${name}`, { 'accept-encoding': accepted })),
      );
      expect([name, plain?.headers['content-encoding']]).toEqual([name, undefined]);
      expect([name, packed?.headers['content-encoding']]).toEqual([name, 'gzip']);
      expect(packed && gunzipSync(packed.bytes).equals(plain?.bytes ?? Buffer.of())).toBe(true);
      if (!name.startsWith('draw-chart-')) total += packed?.bytes.length ?? 0;
    }
    expect(total).toBeLessThan(200_000);
  });

  test('the policy allows the own scripts and styles, and no inline ones', async () => {
    const { headers, text } = await visitor.get('/query');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]+';/);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style| on\w+=/);
    expect(text).toContain(/'nonce-([^']+)'/.exec(policy)?.[1]);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect((await visitor.get('/query')).headers['content-security-policy']).not.toBe(policy);
  });
});

describe('what a query cannot do', () => {
  const outside = freshFolder();
  const secret = join(outside, 'secret.csv');
  writeFileSync(secret, 'secret\nfound\n');
  const attacks = (): readonly string[] => [
    `copy (select 1) to '${outside}/x.csv'`,
    `copy (select 1) to '${warehouse}/x.csv'`,
    `copy transactions to '${warehouse}/x.parquet'`,
    `explain analyze copy (select 1) to '${warehouse}/x.csv'`,
    `explain (analyze) copy (select 1) to '${warehouse}/x.csv'`,
    `/* a */ explain /* b */ analyze copy (select 1) to '${warehouse}/x.csv'`,
    `prepare p as copy (select 1) to '${warehouse}/x.csv'; execute p`,
    `export database '${warehouse}/x'`,
    `import database '${outside}'`,
    `attach '${warehouse}/x.db'`,
    `attach '${outside}/x.db' as x`,
    `attach ':memory:' as x`,
    'install httpfs',
    'load httpfs',
    `load '${outside}/x.duckdb_extension'`,
    'create table x as select 1',
    'create view x as select 1',
    'create secret (type s3)',
    'drop view transactions',
    'insert into transactions select * from transactions',
    'delete from _commits',
    "set memory_limit = '64GB'",
    'set enable_external_access = true',
    'reset lock_configuration',
    'pragma enable_profiling',
    `pragma import_database('${outside}')`,
    'checkpoint',
    'call force_checkpoint()',
    `from enable_logging(storage = 'file', storage_path = '${outside}/log')`,
    `call enable_logging('QueryLog')`,
    `from "enable_logging"()`,
    `from query('select 1')`,
    `from query/* */('select 1')`,
    `from query/* /* */ */('select 1')`,
    'from "query" (\'select 1\')',
    `from query\u200b('select 1')`,
    `from json_execute_serialized_sql(json_serialize_sql('select 1'))`,
    'from arrow_scan(1::pointer, 2::pointer, 3::pointer)',
    `select * from read_csv('${secret}')`,
    `select * from '${secret}'`,
    `select content from read_text('${secret}')`,
    `select content from read_blob('/etc/passwd')`,
    `select * from read_text('${warehouse}/../../../../../../../../etc/passwd')`,
    `select * from glob('${outside}/*')`,
    `select * from '${warehouse}-x/secret.csv'`,
    `select * from parquet_metadata('${secret}')`,
    `select * from sniff_csv('${secret}')`,
    `from read_duckdb('${outside}/x.db')`,
    `select * from 'http://127.0.0.1:9/x.csv'`,
    `select * from 'https://example.com/x.parquet'`,
    `select * from 's3://bucket/x.parquet'`,
    `create temp table x as select * from read_csv('${secret}'); from x`,
    `create temp macro f() as table from read_csv('${secret}'); from f()`,
    `select 1; copy (select 1) to '${warehouse}/x.csv'; select 2`,
    `select 1) to '${warehouse}/x.csv'; select (2`,
    `select 1; select 2; attach '${warehouse}/x.db'`,
    `/* /* */ select */ export database '${warehouse}/y'`,
    `--\rexport database '${warehouse}/y'`,
    `explain export database '${warehouse}/y'`,
    `describe select * from read_csv('${secret}')`,
    "create or replace temporary secret tonlake_warehouse (type http, bearer_token 'x')",
    // Statements that begin within what a text like '...' ends with, if its marks are overlooked.
    String.raw`create temp view v as select e'a\'' as a; set global threads = 2; select '1'`,
    "select $ä$ ' $ä$; set global threads = 2; select ' '",
    "select e'a'\n'b\\''; set global threads = 2; select 1 as \"'\"",
    'select 1 as a$b$; set global threads = 2; select 1 as c$b$',
    'shutdown',
    'begin transaction',
    'vacuum',
  ];

  test('writing, attaching, installing, reading files, reaching the network: all refused, and nothing is changed', async () => {
    mkdirSync(`${warehouse}-x`);
    writeFileSync(`${warehouse}-x/secret.csv`, 'secret\nfound\n');
    const before = [filesIn(warehouse), filesIn(outside)];
    for (const sql of attacks()) {
      const answer = await visitor.run(sql);
      expect({ sql, status: answer.status, code: answer.code }).toEqual({
        ...{ sql, status: 422 },
        code: expect.stringMatching(/^(not-a-query|failed|not-writable|read-only|several-results)$/),
      });
      expect(JSON.stringify(answer)).not.toContain('found');
    }
    expect([filesIn(warehouse), filesIn(outside)]).toEqual(before);
    expect((await visitor.run('select count(*) from transactions')).count).toBe(1);
  });

  test('what selects is let through', async () => {
    const queries = [
      'select 1',
      'with a as (select 1 as n) select * from a',
      'from transactions limit 1',
      'describe transactions',
      'show tables',
      'summarize blocks',
      'explain select count(*) from transactions',
      'explain analyze select count(*) from transactions',
      'values (1), (2)',
      "set variable x = 2; create temp table t as select 1 as a; select a + getvariable('x') from t",
      'select 1 as query, 2 as a, 3 as a',
      "select 'checkpoint (now)' as text",
      "select e'\\'; checkpoint; --' as text; select 1\u200b",
      'select $T$ $t$; checkpoint; $T$ as text',
      '-- a comment\nselect 1 -- another one',
    ];
    // A text may hold the name of a refused function, but not as a call.
    for (const sql of queries.filter((each) => !each.includes('checkpoint ('))) {
      const { status, error } = await visitor.run(sql);
      expect({ sql, status, error }).toEqual({ sql, status: 200, error: undefined });
    }
  });

  test('with --allow-files, files can be read, and still not written', async () => {
    const free = await serveWarehouse(warehouse, { allowFiles: true });
    const guest = await Visitor.enter(free);
    expect(await guest.run(`select * from read_csv('${secret}')`)).toMatchObject({ status: 200, count: 1 });
    expect(await guest.run(`copy (select 1) to '${outside}/x.csv'`)).toMatchObject({
      status: 422,
      code: 'not-a-query',
    });
    expect(await guest.run(`attach '${outside}/x.db'`)).toMatchObject({ status: 422, code: 'not-a-query' });
  });
});

describe.skipIf(!HAS_BUCKETS)('a warehouse in an object store (skipped without versitygw)', () => {
  test('its queries reach no other server and no other bucket, with --allow-files or without', async () => {
    useS3(await startS3());
    const bucket = 's3://lake/w';
    await run({ pipelines: ['blocks'], network: 'sandbox', range: '1000:1009', warehouse: bucket });
    const other = closing(await servePages(new Map([['/x.csv', 'a\nfound\n']])));
    const secret = join(freshFolder(), 'secret.csv');
    writeFileSync(secret, 'a\nfound\n');
    for (const allowFiles of [true, false]) {
      const own = await serveWarehouse(bucket, { allowFiles });
      const guest = await Visitor.enter(own);
      for (const sql of [
        `select content from read_text('${other.url}/x.csv')`,
        `select * from '${other.url}/x.csv'`,
        `select content from read_text('https://localhost:9/x.csv')`,
        `select content from read_blob('s3://lake/secret.csv')`,
        `select * from glob('s3://lake/*')`,
        `select * from 's3://other/x.parquet'`,
        `select content from read_text('hf://datasets/x/y/z.csv')`,
      ]) {
        const { status, code, error } = await guest.run(sql);
        expect({ sql, status, code, error }).toEqual({
          ...{
            sql,
            status: 422,
            code: 'failed',
            error: expect.stringMatching(/disabled (by|through) configuration/),
          },
        });
      }
      expect(await guest.run('select * from blocks')).toMatchObject({ status: 200 });
      const status = allowFiles ? 200 : 422;
      expect(await guest.run(`select * from read_csv('${secret}')`)).toMatchObject({ status });
    }
    expect(other.asked).toEqual([]);
  });
});
