import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { readTable } from './published.ts';
import { type RestServer, startRestServer } from './rest-server.ts';

const env = { PYICEBERG_CATALOG__DEFAULT__CREDENTIAL: 'me:sesame' };

let server: RestServer;
let warehouse: string;

const sandbox = await startTestSandbox({ blocks: 1010, blockMs: 200 });
afterFile(() => sandbox.close());

beforeEach(async () => {
  server = await startRestServer();
  server.tokens = new Set();
  warehouse = join(freshFolder(), 'w');
});

const place = () => ['--network', sandbox.url, '--warehouse', warehouse];
const catalog = () => ['--publish', 'iceberg', '--catalog', server.url, '--namespace', 'ton'];
const runBlocks = (range: string, ...more: readonly string[]) =>
  tonlake(['run', 'blocks', '--range', range, ...place(), ...more], { env });
const rowsIn = async (table: string): Promise<number> =>
  (await readTable(warehouse, server.tables.get(`ton.${table}`) ?? {})).rows;

describe('tonlake run --publish iceberg --catalog', () => {
  test('ends with the rows in the catalog, by the credentials of the environment', async () => {
    const { code, stdout } = await runBlocks('1000:1001', ...catalog());
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`${server.url} namespace ton: 1 tables at entry-1, 1 of them new`),
    ]);
    const rows = await rowsIn('blocks');
    expect(rows).toBeGreaterThan(0);
    expect((await runBlocks('1002:1003', ...catalog())).code).toBe(0);
    expect(await rowsIn('blocks')).toBeGreaterThan(rows);
    expect(server.requests[0]).toMatchObject({ body: { client_secret: 'sesame' } });
    // The folder of the warehouse is another place.
    expect(existsSync(join(warehouse, 'iceberg/blocks'))).toBe(false);
  });

  test('keeps the rows if the catalog refuses them, and publishes them with the next run', async () => {
    server.fault = () => 404;
    const { code, stdout, stderr } = await runBlocks('1000:1001', ...catalog());
    expect([code, stdout]).toEqual([1, expect.stringContaining('complete: blocks 1000:1001')]);
    expect(stderr).toMatch(/^error: store: catalog http:[^\n]*404/m);
    expect(stderr).not.toContain('sesame');
    const asJson = await runBlocks('1000:1001', ...catalog(), '--json');
    expect([asJson.code, JSON.parse(asJson.stdout.trim().split('\n').at(-1) ?? '')]).toEqual([
      1,
      expect.objectContaining({ event: 'done', complete: true }),
    ]);
    server.fault = undefined;
    expect((await runBlocks('1000:1001', ...catalog())).code).toBe(0);
    expect(await rowsIn('blocks')).toBeGreaterThan(0);
  });

  test('names the warehouse as readers see it', async () => {
    expect((await runBlocks('1000:1000', ...catalog(), '--location', 's3a://lake/w')).code).toBe(0);
    expect(server.tables.get('ton.blocks')?.['location']).toMatch(/^s3a:\/\/lake\/w\/iceberg\/_catalogs\//);
  });

  test.each([
    { name: 'a catalog without --publish', flags: () => ['--catalog', server.url], says: '--publish with --catalog' },
    { name: 'a location without --publish', flags: () => ['--location', '/srv'], says: '--publish with --location' },
    {
      name: 'a namespace without a catalog',
      flags: () => ['--publish', 'iceberg', '--namespace', 'ton'],
      says: 'expected a namespace or a warehouse of a catalog only with its address',
    },
    {
      name: 'an address that cannot be one',
      flags: () => ['--publish', 'iceberg', '--catalog', 'thrift://host', '--namespace', 'ton'],
      says: 'expected an http or https address for --catalog, got thrift://host',
    },
    {
      name: 'no namespace for a network without a name',
      flags: () => ['--publish', 'iceberg', '--catalog', server.url],
      says: 'expected a namespace',
    },
  ])('refuses $name before anything is exported', async ({ flags, says }) => {
    for (const command of ['run', 'follow']) {
      const { code, stderr } = await tonlake([
        ...[command, 'blocks', ...place(), ...flags()],
        ...(command === 'run' ? ['--range', '1000:1001'] : []),
      ]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
    }
    expect(existsSync(warehouse)).toBe(false);
    expect(server.requests).toEqual([]);
  });
});

describe('tonlake follow --publish iceberg --catalog', () => {
  test('ends with the rows in the catalog; if it refuses them, that is told and they stay', async () => {
    const follow = async (refusal: 404 | undefined) => {
      server.fault = refusal === undefined ? undefined : () => refusal;
      const words = ['follow', 'blocks', ...place(), '--from', '-3:', '--lag', '1s', '--json', ...catalog()];
      const following = startTonlake(words, { env });
      await following.until('stdout', /"event":"span"/);
      following.kill('SIGTERM');
      return following.finished;
    };
    const refused = await follow(404);
    expect([refused.code, refused.stderr]).toEqual([
      130,
      expect.stringMatching(/warning: the last rows were not published[^\n]*404[^\n]*\ninterrupted: /),
    ]);
    expect(server.tables.size).toBe(0);
    server.fault = undefined;
    const [, command = ''] = /; tonlake (publish iceberg .*) does it: /.exec(refused.stderr) ?? [];
    expect(await tonlake(command.split(' '), { env })).toMatchObject({ code: 0 });
    const rows = await rowsIn('blocks');
    expect(rows).toBeGreaterThan(0);
    expect((await follow(undefined)).code).toBe(130);
    expect(await rowsIn('blocks')).toBeGreaterThan(rows);
  });
});

describe('a job with iceberg: {catalog: ...}', () => {
  test('ends with its tables in the catalog, and its record says where', async () => {
    const cwd = freshFolder();
    const write = (more: string) =>
      writeFileSync(
        join(cwd, 'lake.yaml'),
        `network: ${sandbox.url}\nwarehouse: w\npipelines: [blocks]\nrange: "1000:1001"\niceberg: {catalog: "${server.url}", ${more}}\n`,
      );
    write('namespace: a.b, warehouse: big');
    const checked = await tonlake(['job', 'list', 'lake.yaml'], { cwd });
    expect([checked.code, checked.stdout]).toEqual([
      0,
      expect.stringContaining(`publish iceberg to ${server.url} namespace a.b`),
    ]);
    const { code, stdout } = await tonlake(['job', 'run', 'lake.yaml', '--json'], { cwd, env });
    const record = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect([code, record.steps.at(-1)]).toMatchObject([
      0,
      {
        kind: 'iceberg',
        status: 'done',
        message: `1 tables at entry-1, 1 of them new in ${server.url} namespace a.b`,
      },
    ]);
    expect([...server.tables.keys()]).toEqual(['a%1Fb.blocks']);
    expect(server.requests.some(({ path }) => path === '/v1/config?warehouse=big')).toBe(true);
    expect(JSON.stringify(record)).not.toContain('sesame');
    write('namespace: c, location: /srv/w');
    server.tokens = new Set(['none']);
    const denied = await tonlake(['job', 'run', 'lake.yaml'], { cwd });
    expect([denied.code, denied.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^preflight log in to the Iceberg catalog [^\n]*401[^\n]*\nerror: [^\n]*; nothing was exported;/,
      ),
    ]);
    server.tokens = undefined;
    expect((await tonlake(['job', 'run', 'lake.yaml'], { cwd })).code).toBe(0);
    expect(server.tables.get('c.blocks')?.['location']).toMatch(/^\/srv\/w\//);
  });
});
