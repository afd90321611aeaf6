import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Finished, startTonlake, tonlake } from '../cli.ts';
import { exportRange, firstRequest, type Hashes, hashTables } from '../e2e/export.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freePort } from '../free-port.ts';
import { freshFolder } from '../scratch.ts';

/** Recognisable in whatever it gets into. */
const KEY = 'KEY-b1a5f00d-recognisable';
const RANGE = '1000:1009';

let sandbox: TestSandbox;
/** Nobody else gets it while the sandbox is closed. */
let port: number;
const servers: Server[] = [];

beforeAll(async () => {
  port = await freePort();
  sandbox = await startTestSandbox({ port });
});

afterAll(async () => {
  await sandbox.close();
  for (const server of servers) server.close().closeAllConnections();
});

/** A server that answers whatever it is asked in one way. @returns its base URL */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`;
}

const always =
  (status: number, type: string, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  };

const runArgs = (network: string, warehouse: string): readonly string[] => [
  ...['run', 'transactions', '--network', network, '--range', RANGE, '--warehouse', warehouse],
];

function expectOneLine({ code, stdout, stderr }: Finished, exitCode: number, says: RegExp): void {
  expect(stderr).toMatch(/^error: [^\n]+; hint: [^\n]+\n$/);
  expect(stderr).toMatch(says);
  expect(stdout).not.toContain('complete:');
  expect(code).toBe(exitCode);
}

describe('a source that is none', () => {
  let path: string;
  let held: Hashes;

  beforeAll(async () => {
    path = join(freshFolder(), 'w');
    await exportRange(sandbox.url, '1000:1004', path);
    held = await hashTables(path);
  });

  /** The same warehouse, whose network is an address, cannot be asked elsewhere: what it holds is looked at afterwards. */
  async function expectNothingLost(): Promise<void> {
    expect(await hashTables(path)).toEqual(held);
    expect(readdirSync(join(path, '_stage'))).toEqual([]);
  }

  test.each([
    {
      name: 'HTML with status 200',
      listener: always(200, 'text/html', '<html><title>Welcome</title></html>'),
      says: /HTML|JSON|base URL/i,
    },
    {
      name: 'HTML with status 404',
      listener: always(404, 'text/html', '<html><title>Not Found</title></html>'),
      says: /404/,
    },
    {
      name: 'JSON of another shape',
      listener: always(200, 'application/json', '{"ok":true,"result":[]}'),
      says: /shape|expected/,
    },
    { name: 'a list in place of an object', listener: always(200, 'application/json', '[]'), says: /shape|expected/ },
    { name: 'null', listener: always(200, 'application/json', 'null'), says: /shape|expected/ },
  ])('$name: says so, and makes no rows', async ({ listener, says }) => {
    const fresh = join(freshFolder(), 'w');
    const finished = await tonlake([...runArgs(await serve(listener), fresh), '--json']);
    expect(finished.stderr).toMatch(/^error: [^\n]+; hint: [^\n]+\n$/);
    expect(finished.stderr).toMatch(says);
    expect(finished.code).toBe(1);
    expect(JSON.parse(finished.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'done',
      complete: false,
    });
    expect(existsSync(fresh)).toBe(false);
  });

  test.each([
    ['run', '--range', RANGE],
    ['follow', '--pending', `0:${'0'.repeat(64)}`],
  ])('an address where nothing listens is told by %s at once, and leaves no warehouse', async (...words) => {
    const url = await serve(() => undefined);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const folder = freshFolder();
    const finished = await tonlake([...words, '--network', url, '--warehouse', join(folder, 'data', 'w')]);
    expectOneLine(finished, 1, /nothing is listening at http:\/\/127\.0\.0\.1:\d+ after 3 attempts/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ['run', 'blocks', '--range', RANGE],
    ['follow', '--for', '1s', '--pending', `0:${'0'.repeat(64)}`],
  ])('a Redis server that is not there is told by %s', async (...words) => {
    const place = ['--network', sandbox.url, '--warehouse', join(freshFolder(), 'w')];
    const budget = ['--rps', '100', '--budget', `redis://127.0.0.1:${await freePort()}`];
    expectOneLine(await tonlake([...words, ...place, ...budget]), 1, /expected a Redis server at redis:.*ECONNREFUSED/);
  });

  test('truncated JSON is asked for again until attempts run out, and what was there stays', async () => {
    sandbox.setFaults({ truncatedJson: 1 });
    const again = await exportRange(sandbox.url, RANGE, path);
    // A URL fails at most twice in a row: the run goes through.
    expect(again).toMatchObject({ code: 0, report: { complete: true } });
    expect(again.report.retries).toBeGreaterThan(2);
    sandbox.setFaults(NO_FAULTS);
    held = await hashTables(path);
  });

  test('a source that dies half-way leaves a warehouse that can be read, and that the same command completes', async () => {
    await sandbox.close();
    const finished = await tonlake([...runArgs(sandbox.url, path), '--range', '1000:1029']);
    expectOneLine(finished, 1, /nothing is listening/);
    await expectNothingLost();
    sandbox = await startTestSandbox({ port });
    expect(await exportRange(sandbox.url, '1000:1029', path)).toMatchObject({ code: 0, report: { complete: true } });
  });
});

describe('a key', () => {
  let locked: TestSandbox;

  beforeAll(async () => {
    locked = await startTestSandbox({ apiKey: KEY });
  });

  test('that is missing or refused is told once, with what to set', async () => {
    const folder = freshFolder();
    const missing = await tonlake(runArgs(locked.url, folder));
    expectOneLine(missing, 1, /401.*hint: set TONLAKE_API_KEY/);
    const env = { TONLAKE_API_KEY: 'KEY-wrong' };
    const refused = await tonlake(runArgs(locked.url, join(folder, 'w.duckdb')), { env });
    expectOneLine(refused, 1, /401.*the API key was rejected/);
    expect(refused.stderr).not.toContain('KEY-wrong');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('occurs in no output, file or error', async () => {
    const folder = freshFolder();
    const path = join(folder, 'w');
    const file = join(freshFolder(), 'key');
    writeFileSync(file, `${KEY}\n`);
    const outputs = [
      await tonlake([...runArgs(locked.url, path), '--json'], { env: { TONLAKE_API_KEY: KEY } }),
      await tonlake([...runArgs(locked.url, path), '--range', '1000:1019'], { env: { TONLAKE_API_KEY_FILE: file } }),
      await tonlake(['status', '--warehouse', path], { env: { TONLAKE_API_KEY: KEY } }),
    ];
    const echo = await serve((request, response) => {
      response.writeHead(500, { 'content-type': 'application/json', 'retry-after': '301' });
      response.end(JSON.stringify({ error: `timeout: key ${String(request.headers['x-api-key'])} at ${request.url}` }));
    });
    const echoed = await tonlake([...runArgs(echo, join(folder, 'v')), '--json'], { env: { TONLAKE_API_KEY: KEY } });
    expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(echoed.code).toBe(1);
    expect(echoed.stderr).toContain('[redacted]');
    for (const { stdout, stderr } of [...outputs, echoed]) expect(stdout + stderr).not.toContain(KEY);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => join(item.parentPath, item.name));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(readFileSync(file).includes(KEY), file).toBe(false);
  });
});

describe('a warehouse that cannot be used', () => {
  test('of another network is refused by every command, and stays as it is', async () => {
    const path = join(freshFolder(), 'w');
    await exportRange(sandbox.url, RANGE, path);
    const before = await hashTables(path);
    const commands = [
      ...['status', 'status --range 1000', 'sql from(blocks)', 'report network-daily', 'verify', 'build', 'test'],
      ...['show', 'show 1000', 'show blocks --files', 'show blocks -1 8000000000000000 1000'],
      ...['export blocks --to blocks.parquet', 'forget blocks --range 1000', 'compact'],
      ...['publish iceberg', 'publish duckdb'],
    ].map((words) => [...words.split(' '), '--network', 'sandbox', '--warehouse', path]);
    for (const args of [runArgs('sandbox', path), ...commands]) {
      expectOneLine(await tonlake(args), 2, new RegExp(`holds ${sandbox.url}, not sandbox`));
    }
    expect(await hashTables(path)).toEqual(before);
  });

  test('a file that is no DuckDB file stays as it is', async () => {
    const path = join(freshFolder(), 'notes.duckdb');
    writeFileSync(path, 'dear diary');
    expectOneLine(await tonlake(runArgs(sandbox.url, path)), 1, /is not a DuckDB file/);
    expectOneLine(await tonlake(['sql', 'select 1', '--warehouse', path]), 1, /is not a DuckDB file/);
    expectOneLine(await tonlake([...runArgs(sandbox.url, path), '--store', 'parquet']), 2, /is a file/);
    expect(readFileSync(path, 'utf8')).toBe('dear diary');
    expect(readdirSync(join(path, '..'))).toEqual(['notes.duckdb']);
  });

  test('a DuckDB file of somebody else stays as it is', async () => {
    const path = join(freshFolder(), 'theirs.duckdb');
    const instance = await DuckDBInstance.create(path);
    const connection = await instance.connect();
    await connection.run('create table precious as select 42 as answer');
    connection.closeSync();
    instance.closeSync();
    const before = readFileSync(path);
    expectOneLine(await tonlake(runArgs(sandbox.url, path)), 1, /not a tonlake warehouse/);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(join(path, '..'))).toEqual(['theirs.duckdb']);
  });

  test('a path below a file, or that is not there, is told', async () => {
    const folder = freshFolder();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expectOneLine(await tonlake(runArgs(sandbox.url, join(file, 'w'))), 1, /file instead of a folder/);
    expectOneLine(await tonlake(['status', '--warehouse', join(folder, 'none')]), 1, /store: no warehouse at/);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test.skipIf(process.getuid?.() === 0)('a folder without the right to write is told (not as root)', async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'closed'), { mode: 0o500 });
    expectOneLine(await tonlake(runArgs(sandbox.url, join(folder, 'closed', 'w'))), 1, /permission denied/);
  });

  test.each(['w', 'w.duckdb'])('a second writer on %s is told who the first is', async (name) => {
    const path = join(freshFolder(), name);
    await exportRange(sandbox.url, '1000', path);
    sandbox.setFaults({ slow: 1, slowMs: 30_000 });
    sandbox.requests.reset();
    const first = startTonlake([...runArgs(sandbox.url, path), '--json']);
    await firstRequest(sandbox);
    sandbox.setFaults(NO_FAULTS);
    const second = await tonlake(runArgs(sandbox.url, path));
    expectOneLine(second, 1, new RegExp(`is being written by process ${first.pid} since .*kill -INT ${first.pid}`));
    first.kill('SIGKILL');
    await first.finished;
    // The lock of a dead process is no lock.
    expect(await tonlake(runArgs(sandbox.url, path))).toMatchObject({ code: 0 });
  });
});

describe('a query or an address that is wrong', () => {
  const folder = freshFolder();
  const forTests = 'kQBp0qczYYevm_wiHwIope4I9QFZgGQzxfAhFBM85VJoWgZO';
  const mistyped = 'EQBp0qczYYevm_wiHwIope4I9QFZgGQzxfAhFBM85VJoWr3F';
  const TON = `0:${'0'.repeat(64)}`;

  beforeAll(async () => {
    await exportRange(sandbox.url, '1000', join(folder, 'w'));
    mkdirSync(join(folder, 'of-mainnet'));
    const about = JSON.parse(readFileSync(join(folder, 'w/tonlake.json'), 'utf8'));
    writeFileSync(join(folder, 'of-mainnet/tonlake.json'), JSON.stringify({ ...about, network: 'mainnet' }));
    const prices = ['timestamp,token_address,price_usd', `2026-05-01,${TON},1`, `2026-05-01,${TON},2`];
    writeFileSync(join(folder, 'prices.csv'), prices.join('\n'));
    writeFileSync(join(folder, 'tonlake.yaml'), 'warehouse: w\nprices: prices.csv\n');
    writeFileSync(join(folder, 'own.yaml'), 'mine:\n  opcode: 1\n  fields: a uint8, b wrong\n');
  });

  test.each<[string, readonly string[], RegExp]>([
    [
      'a mistake in a file of layouts',
      ['sql', "select decode_body('x'::blob)", '--layouts', 'own.yaml'],
      /expected uintN.*, got wrong \(own\.yaml:3:11: line 1, column 12\)/,
    ],
    [
      'no file of layouts',
      ['sql', "select decode_body('x'::blob)", '--layouts', 'none.yaml'],
      /^error: usage: expected a file of layouts, cannot read none\.yaml; hint: --layouts/,
    ],
    ['a mistake in a layout', ['sql', "select parse_boc('x'::blob, 'a uint8 b')"], /\(layout: line 1, column 9\)/],
    [
      'two prices of a day',
      ['sql', 'from ton.prices_daily'],
      /each key once in prices\.csv, got 2 rows of 2026-05-01 0:0/,
    ],
    [
      'a wrong checksum in SQL',
      ['sql', `select raw_address('${mistyped}')`],
      /an address with its checksum, got EQ\w+3F/,
    ],
    ['a wrong checksum', ['show', mistyped], /expected an address with its checksum, got EQ\w+3F/],
    ...[
      ['follow', '--network', 'mainnet', '-w', 'm', '--pending', forTests],
      ['show', forTests, '--live', '--network', 'mainnet'],
      ['api', 'accountStates', `address=${forTests}`, '--network', 'mainnet'],
      ['report', 'account', '--param', `account=${forTests}`, '-w', 'of-mainnet'],
    ].map((words): [string, readonly string[], RegExp] => [
      `an address of another network, by ${words[0]}`,
      words,
      /expected an address of mainnet, got one for test networks only: kQ.*same account on mainnet is 0:69D2/,
    ]),
  ])('%s is refused in one line', async (_name, words, says) => {
    expectOneLine(await tonlake(words, { cwd: folder }), 2, says);
    expect(readdirSync(folder).sort()).toEqual(['of-mainnet', 'own.yaml', 'prices.csv', 'tonlake.yaml', 'w']);
  });

  test('a body that is none is null, and its reason is told', async () => {
    const wrongSum = "from_hex('b5ee9c7241010101000c0000140000000048656c6c6f2100000000')";
    const sql = `select parse_boc('x'::blob, 'a uint8') as fields, parse_boc_or_error('x'::blob, 'a uint8').error as why,
      parse_boc_or_error(${wrongSum}, 'a uint8').error as sum, decode_body(${wrongSum}) as json`;
    const { code, stdout } = await tonlake(['sql', sql, '--format', 'json'], { cwd: folder });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      [{ fields: null, why: 'no bag of cells: header', sum: 'no bag of cells: checksum', json: null }],
    ]);
  });
});
