import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { verifyWarehouse } from '../../src/verify/verify.ts';
import { bucketBackend } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { compactWarehouse } from '../../src/warehouse/index.ts';
import { tonlake } from '../cli.ts';
import { EXTENSIONS, HAS_BUCKETS, type S3Relay, type S3Server, startRelayedS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { type Hashes, hashTables, query } from './export.ts';

const RANGE = '4996:5003';
describe.skipIf(!HAS_BUCKETS)(
  'an export into an object store (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    let server: S3Server;
    let relay: S3Relay;
    let sandbox: Sandbox;
    let inFolder: Hashes;
    /** A warehouse that no test changes. */
    const stable = 's3://lake/stable';

    const runInto = (warehouse: string, range = RANGE) =>
      run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse, commitEveryMs: 0 });

    beforeAll(async () => {
      ({ server, relay } = await startRelayedS3());
      sandbox = await startSandbox();
      const folder = join(freshFolder(), 'w');
      await runInto(folder);
      inFolder = await hashTables(folder);
      await runInto(stable);
    });

    afterAll(() => sandbox.close());

    test('has the rows of one into a folder, also after compact', async () => {
      const warehouse = 's3://lake/one';
      expect(await runInto(warehouse, '4996:4999')).toMatchObject({ complete: true });
      expect(await runInto(warehouse)).toMatchObject({ complete: true });
      expect(await hashTables(warehouse)).toEqual(inFolder);
      const { tables } = await loadRegistry();
      const report = await compactWarehouse({ warehouse, tables, pipelines: [], effects: realEffects });
      expect(report).toMatchObject({ complete: true });
      expect(report.merged).toBeGreaterThan(0);
      expect(await hashTables(warehouse)).toEqual(inFolder);
    });

    test('has the same rows if four writers want all of it at the same time', async () => {
      const warehouse = 's3://lake/four';
      const reports = await Promise.all([1, 2, 3, 4].map(() => runInto(warehouse)));
      expect(reports.every(({ complete }) => complete)).toBe(true);
      expect(await hashTables(warehouse)).toEqual(inFolder);
      // Each row is counted by the one that committed it.
      const total = reports.reduce((sum, { rows }) => sum + (rows['transactions'] ?? 0), 0);
      expect(`${total} rows`).toBe(inFolder['transactions']?.split(',')[0]);
      expect(await verifyWarehouse({ warehouse })).toMatchObject({ proven: true });
    });

    test('has lists and looked-up keys once if three writers read them at the same time', async () => {
      const [warehouse, folder] = ['s3://lake/lists', join(freshFolder(), 'w')];
      const lists = {
        pipelines: ['account_latest', 'jetton_masters', 'account_info'],
        network: sandbox.url,
        range: '4999:5000',
      };
      await run({ ...lists, warehouse: folder });
      // All have their keys before the first one commits.
      const reports = await Promise.all([1, 2, 3].map(() => run({ ...lists, warehouse })));
      expect(reports.every(({ complete }) => complete)).toBe(true);
      expect(await hashTables(warehouse)).toEqual(await hashTables(folder));
    });

    test('has the same rows if the store fails in every way', async () => {
      const warehouse = 's3://lake/faults';
      const faults = [
        { status: 500, code: 'InternalError' },
        'lose',
        { status: 503, code: 'SlowDown' },
        'reset',
      ] as const;
      let count = 0;
      relay.fault = ({ method }) =>
        method !== 'POST' && ++count % 5 === 0 ? (faults[(count / 5) % 4] ?? 'pass') : 'pass';
      expect(await runInto(warehouse)).toMatchObject({ complete: true });
      relay.fault = undefined;
      expect(count).toBeGreaterThan(30);
      expect(await hashTables(warehouse)).toEqual(inFolder);
    });

    test('is found damaged, and repaired', async () => {
      const warehouse = 's3://lake/damaged';
      await runInto(warehouse);
      const found = (await bucketBackend(warehouse).objects.list('tables/transactions/')).map(({ key }) => key);
      const [first = '', second = ''] = found;
      truncateSync(join(server.folder, 'lake/damaged', first), 2000);
      rmSync(join(server.folder, 'lake/damaged', second));
      const kinds = new Set<string>();
      const report = await verifyWarehouse({
        warehouse,
        onEvent: (event) => {
          if (event.event === 'finding') kinds.add(event.kind);
        },
      });
      expect(report).toMatchObject({ proven: false });
      expect([...kinds]).toEqual(expect.arrayContaining(['file-changed', 'file-missing']));
      const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
      const repaired = await tonlake(['verify', '--repair', '--network', sandbox.url, '--warehouse', warehouse], {
        env,
      });
      expect(repaired).toMatchObject({ code: 0 });
      expect(await hashTables(warehouse)).toEqual(inFolder);
    });

    test.each([
      ['a data file', /duckdb/i, '/tables/'],
      ['an entry of the ledger', /aws-sdk/i, '/_ledger/0'],
      ['a declaration', /aws-sdk/i, '/_declarations/'],
    ])('is not taken for damaged if the store refuses %s: a repair changes nothing', async (_, agent, folder) => {
      const before = await bucketBackend(stable).objects.list('');
      const isRefused = (path: string): boolean => path.includes(folder) && !path.includes('list-type');
      relay.fault = ({ method, path, headers }) =>
        method === 'GET' && isRefused(path) && agent.test(String(headers['user-agent']))
          ? { status: 403, code: 'AccessDenied' }
          : 'pass';
      const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
      const args = ['verify', '--repair', '--network', sandbox.url, '--warehouse', stable];
      const { code, stdout, stderr } = await tonlake(args, { env });
      relay.fault = undefined;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.trim()).toMatch(
        /^error: store: [^\n]*: the store refuses access [^\n]*; hint: these credentials [^\n]*$/,
      );
      expect(await bucketBackend(stable).objects.list('')).toEqual(before);
    });

    test('goes on where it was after its credentials expired', async () => {
      const warehouse = 's3://lake/expired';
      let entries = 0;
      relay.fault = ({ method, path }) => {
        if (method === 'PUT' && path.includes('/_ledger/0')) entries++;
        return entries > 1 ? { status: 400, code: 'ExpiredToken' } : 'pass';
      };
      const args = ['run', 'transactions', '--network', sandbox.url, '--range', RANGE, '--warehouse', warehouse];
      const { code, stderr } = await tonlake([...args, '--commit-every', '0'], { env: relay.env });
      relay.fault = undefined;
      expect(code).toBe(1);
      const [last = ''] = stderr.trim().split('\n').slice(-1);
      expect(last).toMatch(
        /^error: store: .*the credentials have expired .*; hint: renew them, .*committed data is safe$/,
      );
      expect(await bucketBackend(warehouse).objects.list('_ledger/0')).toHaveLength(1);
      expect(await runInto(warehouse)).toMatchObject({ complete: true });
      expect(await hashTables(warehouse)).toEqual(inFolder);
    });

    test('a mart reads the days of a mart that the same build has made', async () => {
      const folder = freshFolder();
      const header =
        '-- Mine.\n-- question: q\n-- grain: day\n-- key: block_date\n-- inputs: transactions_daily\n-- units: none\n';
      writeFileSync(
        join(folder, 'mine.sql'),
        `${header}-- incremental: block_date\nSELECT block_date, tx_count AS n FROM transactions_daily`,
      );
      await runInto('s3://lake/marts');
      await buildMarts('s3://lake/marts', { names: ['mine'], folder });
      const sums = 'SELECT count(*), sum(n) FROM mine';
      const [[days, n] = []] = await query('s3://lake/marts', sums);
      const [[transactions] = []] = await query('s3://lake/marts', 'SELECT count(*) FROM transactions');
      expect([days, n]).toEqual(['2', transactions]);
    });

    test('is seen by every command that reads', async () => {
      const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
      const place = ['--warehouse', 's3://lake/seen', '--s3-endpoint', relay.url];
      await runInto('s3://lake/seen');
      await buildMarts('s3://lake/seen', { names: ['transactions_daily'] });
      const [[days] = []] = await query('s3://lake/seen', 'SELECT count(*) FROM transactions_daily');
      expect(days).toBe('2');
      const answer = async (...args: string[]) => (await tonlake([...args, ...place], { env })).stdout;
      expect(JSON.parse(await answer('status', '--json'))).toMatchObject({
        warehouse: 's3://lake/seen',
        store: 'parquet',
      });
      expect(await answer('show', 'transactions', '--files')).toMatch(
        /^s3:\/\/lake\/seen\/tables\/transactions\/block_date=/,
      );
      expect(await answer('sql', 'SELECT count(*) AS n FROM blocks', '--format', 'csv')).toMatch(/^n\r?\n\d+/);
      const check = await tonlake(['test', 'block_tx_counts', ...place], { env });
      expect(check).toMatchObject({ code: 0 });
      const [, hash = ''] = (await answer('sql', 'SELECT hash FROM transactions LIMIT 1', '--format', 'csv')).split(
        /\r?\n/,
      );
      const explained: unknown = JSON.parse(await answer('show', 'transactions', hash, '--json'));
      expect(JSON.stringify(explained)).toContain('"checksum":"matches"');
      const output = join(freshFolder(), 'r.md');
      expect(await tonlake(['report', 'network-daily', '--output', output, ...place], { env })).toMatchObject({
        code: 0,
      });
      expect(readFileSync(output, 'utf8')).toContain('transactions');
      const catalog = await tonlake(['publish', 'duckdb', ...place], { env });
      expect(catalog).toMatchObject({ code: 1 });
      expect(catalog.stderr).toMatch(
        /in an object store, where no warehouse has a catalog file; hint: .* tonlake copy s3:\/\/lake\/seen seen$/m,
      );
    });

    test('a writer that could not read is refused before it makes a warehouse', async () => {
      const place = 's3://lake/unread';
      const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: '/nowhere', HOME: '/nowhere' };
      const { code, stderr } = await tonlake(
        ['run', 'blocks', '--network', sandbox.url, '--range', RANGE, '--warehouse', place],
        { env },
      );
      expect(code).toBe(1);
      expect(stderr.trim()).toMatch(/extension httpfs cannot be installed .*hint: .*docs\/lake.md/);
      const { objects } = bucketBackend(place);
      expect(await objects.names('_ledger')).toEqual([]);
      expect(await objects.get('tonlake.json')).toBeUndefined();
    });

    test.each([
      ['no bucket', ['--warehouse', 's3://nowhere/w'], {}, /there is no such bucket .*hint: create it/],
      ['no warehouse', ['--warehouse', 's3://lake/none'], {}, /no warehouse at s3:\/\/lake\/none; hint/],
      [
        'a wrong key',
        ['--warehouse', 's3://lake/one'],
        { AWS_SECRET_ACCESS_KEY: 'wrong' },
        /does not accept these credentials .*hint/,
      ],
      [
        'no key',
        ['--warehouse', 's3://lake/one'],
        { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
        /no credentials found .*hint: set AWS_ACCESS_KEY_ID/,
      ],
      [
        'no extension',
        ['--warehouse', 's3://lake/one'],
        { TONLAKE_DUCKDB_EXTENSIONS: '/nowhere', HOME: '/nowhere' },
        /extension httpfs cannot be installed .*hint: .*TONLAKE_DUCKDB_EXTENSIONS/,
      ],
    ])('%s is told in one line', async (_, place, more, says) => {
      const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '', ...more };
      const { code, stderr } = await tonlake(['sql', 'SELECT count(*) FROM blocks', ...place], { env });
      expect(code).toBe(1);
      expect(stderr.trim()).toMatch(says);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr).not.toContain('lakelake1');
    });
  },
);
