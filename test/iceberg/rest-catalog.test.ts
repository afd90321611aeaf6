import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { text } from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import { readCatalogConfig } from '../../src/iceberg/rest/catalog-config.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { compact } from '../warehouse/compacting.ts';
import { changedItems, clockAt, commitItems, freshPath, listAll, openTestStore } from '../warehouse/warehouses.ts';
import { publish, publishTables, readTable } from './published.ts';
import { type CatalogFault, type RestServer, startRestServer } from './rest-server.ts';

const PREFIX = 'PYICEBERG_CATALOG__DEFAULT__';
/** Retries without their pauses. */
const hasty = { ...clockAt(Date.now()), now: () => Date.now(), sleep: async () => {} };

let server: RestServer;

const made = freshPath('parquet');
await addItems(made, 0, 10, 20);

async function addItems(path: string, ...starts: readonly number[]): Promise<void> {
  const store = await openTestStore(path);
  for (const from of starts) await commitItems(store, from, from + 9, { perDay: 15 });
  await store.close();
}

/** A warehouse of three entries, and an empty catalog. */
async function begin() {
  server = await startRestServer();
  const path = freshPath('parquet');
  await cp(made, path, { recursive: true });
  const catalog = (env: NodeJS.ProcessEnv = {}, namespace = 'ton') =>
    readCatalogConfig({ uri: server.url, namespace }, env);
  const options = (env?: NodeJS.ProcessEnv) => ({ catalog: catalog(env), effects: hasty });
  const read = (table: string, ref?: string) => readTable(path, server.tables.get(`ton.${table}`) ?? {}, ref);
  const tags = (table: string) =>
    Object.keys((server.tables.get(`ton.${table}`)?.['refs'] ?? {}) as object).filter((name) => name !== 'main');
  return { path, catalog, options, read, tags };
}

const commits = () => server.requests.filter(({ method, path }) => method === 'POST' && /\/tables\/\w+$/.test(path));

describe('a warehouse that is published to a REST catalog', () => {
  test('has its tables there, each created together with its first snapshot', async () => {
    const { path, options, read } = await begin();
    const { report, events } = await publishTables(path, options());
    expect(report).toMatchObject({
      catalog: server.url,
      namespace: 'ton',
      entry: 3,
      tables: 2,
      published: 2,
      skipped: [],
    });
    expect(events).toMatchObject([
      { table: 'items', outcome: 'published', files: 4, rows: 30, added: 4 },
      { table: 'parts', outcome: 'published', files: 3, rows: 60, added: 3 },
    ]);
    expect(commits().map(({ body }) => (body as { requirements: unknown }).requirements)).toEqual([
      [{ type: 'assert-create' }],
      [{ type: 'assert-create' }],
    ]);
    expect(await read('items')).toMatchObject({ rows: 30 });
    expect(await read('parts', 'entry-3')).toMatchObject({ rows: 60 });
    expect(server.tables.get('ton.items')).toMatchObject({
      'format-version': 2,
      'default-spec-id': 0,
      'partition-specs': [{ fields: [{ name: 'block_date', transform: 'identity', 'source-id': 7 }] }],
      properties: {
        'gc.enabled': 'false',
        comment: 'one item of a test',
        'schema.name-mapping.default': expect.any(String),
      },
    });
    // The folder of the warehouse is another place.
    expect((await listAll(path)).filter((name) => name.endsWith('version-hint.text'))).toEqual([]);
  });

  test('again changes nothing; a new entry is one commit a table, for the snapshot that was read', async () => {
    const { path, options, read, tags } = await begin();
    await publish(path, options());
    server.requests.length = 0;
    expect(await publish(path, options())).toMatchObject({ entry: 3, published: 0 });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    const first = server.tables.get('ton.items');
    await addItems(path, 30);
    expect(await publish(path, options())).toMatchObject({ entry: 4, published: 2 });
    expect(commits()).toHaveLength(2);
    expect(commits()[0]?.body).toMatchObject({
      requirements: [
        { type: 'assert-table-uuid', uuid: first?.['table-uuid'] },
        { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': first?.['current-snapshot-id'] },
      ],
      updates: [
        { action: 'add-snapshot' },
        { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch' },
        { action: 'set-snapshot-ref', 'ref-name': 'entry-4', type: 'tag' },
      ],
    });
    expect(tags('items')).toEqual(['entry-3', 'entry-4']);
    expect(await read('items', 'entry-3')).toMatchObject({ rows: 30 });
    expect(await read('items')).toMatchObject({ rows: 40 });
  });

  test('keeps superseded files while a snapshot there shows them, and the folder does not lose its own', async () => {
    const { path, options, read, tags } = await begin();
    const clock = Object.assign(clockAt(Date.now()), { sleep: async () => {} });
    const both = async () => {
      await publish(path, { ...options(), effects: clock });
      await publish(path, { effects: clock, keepMs: 72 * 3_600_000 });
    };
    await both();
    await compact(path);
    await both();
    const older = await read('items', 'entry-3');
    const collect = async () => {
      await (await openTestStore(path, { graceMs: 0 })).close();
      return (await listAll(path)).filter((name) => older.files.includes(name));
    };
    expect(await collect()).toHaveLength(4);
    clock.time += 25 * 3_600_000;
    await both();
    // The folder shows them for three days, the catalog for one.
    expect(tags('items')).not.toContain('entry-3');
    expect(commits().at(-2)?.body).toMatchObject({
      updates: expect.arrayContaining([{ action: 'remove-snapshots', 'snapshot-ids': [expect.any(Number)] }]),
    });
    expect(await collect()).toHaveLength(4);
    clock.time += 72 * 3_600_000;
    await both();
    expect(await collect()).toEqual([]);
    expect(await read('items')).toMatchObject({ rows: 30 });
  });

  test('leaves a table of somebody else as it is', async () => {
    const { path, options, catalog } = await begin();
    await publish(path, options());
    const other = freshPath('parquet');
    await cp(made, other, { recursive: true });
    const before = structuredClone(server.tables);
    const { report, events } = await publishTables(other, { catalog: catalog(), effects: hasty });
    expect(report).toMatchObject({ published: 0, skipped: ['items', 'parts'] });
    expect(events[0]).toMatchObject({ problem: expect.stringContaining('choose another --namespace') });
    expect(server.tables).toEqual(before);
    expect(await publish(other, { catalog: catalog({}, 'ton.other'), effects: hasty })).toMatchObject({ published: 2 });
    expect([...server.tables.keys()]).toContain('ton%1Fother.items');
  });

  test('gets a new column by a new schema, which the commit asks for', async () => {
    const { path, options, read } = await begin();
    await publish(path, options());
    const wider = changedItems((columns) => [
      ...columns,
      ...table('more', {
        ...{ grain: '', rows: { kind: 'records', path: '/rows' }, key: ['note'] },
        columns: { note: text('/note', 'a new column').nullable() },
      }).columns.slice(0, 1),
    ]);
    expect(await publish(path, { ...options(), tables: [wider] })).toMatchObject({ skipped: [] });
    expect(
      commits()
        .filter((one) => one.path.endsWith('/items'))
        .at(-1)?.body,
    ).toMatchObject({
      requirements: expect.arrayContaining([
        { type: 'assert-current-schema-id', 'current-schema-id': 0 },
        { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 8 },
      ]),
      updates: expect.arrayContaining([
        { action: 'add-schema', schema: expect.objectContaining({ 'schema-id': 1 }), 'last-column-id': 9 },
        { action: 'set-current-schema', 'schema-id': -1 },
      ]),
    });
    expect(await read('items')).toMatchObject({ rows: 30 });
  });

  test('loses what another program wrote', async () => {
    const { path, options, read, tags } = await begin();
    await publish(path, options());
    const table = server.tables.get('ton.items') ?? {};
    const [snapshot] = table['snapshots'] as Record<string, unknown>[];
    const foreign = { ...snapshot, 'snapshot-id': 7, 'sequence-number': 2, summary: { operation: 'append' } };
    Object.assign(table, { snapshots: [snapshot, foreign], 'current-snapshot-id': 7, 'last-sequence-number': 2 });
    Object.assign(table['refs'] as object, { main: { 'snapshot-id': 7, type: 'branch' } });
    const { events } = await publishTables(path, options());
    expect(events).toMatchObject([{ table: 'items', restarted: 'foreign' }, { outcome: 'unchanged' }]);
    expect(tags('items')).toEqual(['entry-3']);
    expect(server.tables.get('ton.items')?.['snapshots']).toHaveLength(1);
    expect(await read('items')).toMatchObject({ rows: 30 });
  });
});

describe('of publishers to one catalog', () => {
  test.each([
    ['ahead', 1],
    ['behind', -1],
  ])('one whose clock is an hour %s writes the times of the catalog', async (_, sign) => {
    const { path, options, read } = await begin();
    const skewed = { ...options().effects, now: () => Date.now() + sign * 3_600_000 };
    await publish(path, { ...options(), effects: skewed });
    await addItems(path, 30);
    await publish(path, { ...options(), effects: skewed });
    await addItems(path, 40);
    expect(await publish(path, options())).toMatchObject({ entry: 5, published: 2 });
    const snapshots = server.tables.get('ton.items')?.['snapshots'] as Record<string, number>[];
    const offsets = snapshots.map((one) => Math.abs(Number(one['timestamp-ms']) - Date.now()));
    expect(offsets).toHaveLength(3);
    expect(Math.max(...offsets)).toBeLessThan(1_800_000);
    expect((await read('items')).rows).toBe(50);
  });

  test('one wins, the other goes on from it', async () => {
    const { path, options, read, tags } = await begin();
    await publish(path, options());
    await addItems(path, 30);
    let isFirst = true;
    server.fault = async ({ method, path: asked }): Promise<CatalogFault> => {
      if (method !== 'POST' || !asked.endsWith('/items') || !isFirst) return 'pass';
      isFirst = false;
      // Between the reading of the one and its commit.
      await addItems(path, 40);
      await publish(path, options());
      return 'pass';
    };
    expect(await publish(path, options())).toMatchObject({ entry: 5, published: 0 });
    expect(tags('items')).toEqual(['entry-3', 'entry-5']);
    expect((await read('items')).rows).toBe(50);
  });

  test.each([
    ['lost answers', 'lose'],
    ['answers of 500', 500],
    ['answers of 503', 503],
  ] as const)('with %s each state is there once, and the newest is on top', async (_, fault) => {
    const { path, options, read, tags } = await begin();
    let asked = 0;
    server.fault = ({ method }) => (method === 'POST' && ++asked % 3 === 2 ? fault : 'pass');
    for (const from of [30, 40]) {
      await publish(path, options());
      await addItems(path, from);
    }
    await Promise.all([publish(path, options()), publish(path, options())]);
    for (const [table, each] of [
      ['items', 10],
      ['parts', 20],
    ] as const) {
      expect(tags(table)).toEqual(['entry-3', 'entry-4', 'entry-5']);
      for (const tag of tags(table)) expect((await read(table, tag)).rows).toBe(each * Number(tag.slice(6)));
      expect(server.tables.get(`ton.${table}`)?.['snapshots']).toHaveLength(3);
    }
  });
});

describe('a catalog that asks who it is', () => {
  test('gets a token for the credentials of the environment, and for a new one when it expired', async () => {
    const { path, options } = await begin();
    server.tokens = new Set();
    let renewals = 0;
    server.fault = ({ path: asked }) => {
      // Each token is good for five requests.
      if (asked !== '/v1/oauth/tokens' && server.requests.length % 5 === 0) server.tokens?.clear();
      if (asked === '/v1/oauth/tokens') renewals++;
      return 'pass';
    };
    const env = { [`${PREFIX}CREDENTIAL`]: 'me:sesame', [`${PREFIX}SCOPE`]: 'lake' };
    expect(await publish(path, options(env))).toMatchObject({ published: 2 });
    expect(renewals).toBeGreaterThan(1);
    expect(server.requests[0]).toMatchObject({
      path: '/v1/oauth/tokens',
      body: { grant_type: 'client_credentials', client_id: 'me', client_secret: 'sesame', scope: 'lake' },
    });
    expect(
      server.requests
        .slice(1)
        .every(
          ({ path: asked, authorization }) => asked.includes('oauth') || authorization?.startsWith('Bearer token-'),
        ),
    ).toBe(true);
  });

  test('gets the token of the environment; a wrong one is denied in one line without it', async () => {
    const { path, options } = await begin();
    server.tokens = new Set(['good-token']);
    expect(await publish(path, options({ [`${PREFIX}TOKEN`]: 'good-token' }))).toMatchObject({ published: 2 });
    for (const env of [{}, { [`${PREFIX}TOKEN`]: 'bad-token' }, { [`${PREFIX}CREDENTIAL`]: 'me:wrong-secret' }]) {
      const failure = (await publish(path, options(env)).catch((error: unknown) => error)) as Error;
      expect(failure).toMatchObject({ code: 'denied', hint: expect.stringContaining(PREFIX) });
      expect(`${failure.message} ${String(failure.cause)}`).not.toMatch(/bad-token|wrong-secret|\n/);
    }
  });
});

test('settings of the catalog: its prefix, and the warehouse that was asked for', async () => {
  const { path, catalog } = await begin();
  server.config = { defaults: { prefix: 'default' }, overrides: { prefix: 'lakes/one' } };
  const place = { ...catalog({ [`${PREFIX}PREFIX`]: 'mine' }), warehouse: 'big lake' };
  expect(await publish(path, { catalog: place, effects: hasty })).toMatchObject({ published: 2 });
  expect(server.requests[0]?.path).toBe('/v1/config?warehouse=big%20lake');
  expect(server.requests.slice(1).every((one) => one.path.startsWith('/v1/lakes/one/namespaces'))).toBe(true);
});

test('the catalog of these tests refuses what the specification does', async () => {
  await begin();
  const post = (body: object) =>
    fetch(`${server.url}/v1/namespaces/ton/tables/items`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(async (answer) => [answer.status, await answer.text()]);
  await fetch(`${server.url}/v1/namespaces`, { method: 'POST', body: JSON.stringify({ namespace: ['ton'] }) });
  const requirements = [{ type: 'assert-create' }];
  const snapshot = { 'snapshot-id': 1, 'timestamp-ms': 1, summary: { operation: 'append' } };
  for (const [updates, problem] of [
    [[{ action: 'add-snapshot', snapshot }], "required property 'manifest-list'"],
    [[{ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'twig', 'snapshot-id': 1 }], 'must be equal to one of'],
    [[{ action: 'make-tea' }], 'unknown make-tea'],
  ] as const)
    expect(await post({ requirements, updates })).toEqual([400, expect.stringContaining(problem)]);
  expect(await post({ updates: [] })).toEqual([400, expect.stringContaining('requirements')]);
});

describe('tonlake publish iceberg --catalog', () => {
  test('publishes to a namespace, or to that of the network', async () => {
    const { path } = await begin();
    const sandbox = await startTestSandbox();
    afterFile(() => sandbox.close());
    const place = ['--warehouse', join(freshFolder(), 'w'), '--network', sandbox.url];
    expect((await tonlake(['run', 'blocks', ...place, '--range', '1000:1001'])).code).toBe(0);
    const command = ['publish', 'iceberg', '--catalog', `${server.url}/`];
    const named = [...command, ...place, '--namespace', 'a.b', '--catalog-warehouse', 'w'];
    expect(await tonlake(named)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${server.url} namespace a.b: 1 tables at entry-1, 1 of them new`),
    });
    expect([...server.tables.keys()]).toEqual(['a%1Fb.blocks']);
    // Only warehouses of networks with a name have a default.
    expect(await tonlake([...command, ...place])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected a namespace'),
    });
    expect((await tonlake([...command, '--warehouse', path])).stdout).toContain('namespace sandbox: ');
    server.fault = () => 404;
    expect(await tonlake(named)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: store: catalog http:[^\n]*404[^\n]*\n$/),
    });
  });

  test('refuses addresses that cannot be one, and credentials in them', async () => {
    const { path } = await begin();
    const command = (...more: readonly string[]) => tonlake(['publish', 'iceberg', '--warehouse', path, ...more]);
    for (const url of ['thrift://host', 'catalog', 'http://me:sesame@127.0.0.1:1/']) {
      const { code, stderr } = await command('--catalog', url);
      expect([code, stderr]).toEqual([2, expect.stringContaining('usage: ')]);
      expect(stderr).not.toContain('sesame');
    }
    expect(await command('--catalog', server.url, '--namespace', 'a..b')).toMatchObject({ code: 2 });
    expect(await command('--namespace', 'a')).toMatchObject({ code: 2, stderr: expect.stringContaining('--catalog') });
  });
});
