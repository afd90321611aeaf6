import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Running, startTonlake } from '../cli.ts';
import { type Hashes, hashTables } from '../e2e/export.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import {
  EXTENSIONS,
  MINIO_PROGRAM,
  S3_PROGRAM,
  type S3Fault,
  type S3Server,
  startMinio,
  startS3,
  startS3Relay,
  useS3,
} from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { chanceOf } from './scenario.ts';

/** Midnight is in the middle. */
const RANGE = '4900:5099';
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

const stores = [
  { name: 'versitygw', program: S3_PROGRAM, start: startS3 },
  { name: 'MinIO', program: MINIO_PROGRAM, start: startMinio },
];

let sandbox: TestSandbox;
let wanted: Hashes;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  const folder = join(freshFolder(), 'w');
  await finished(startTonlake(['run', '--all', ...place(folder)]));
  wanted = await hashTables(folder);
  expect(Object.keys(wanted).length).toBeGreaterThan(25);
});

function place(warehouse: string): readonly string[] {
  return ['--network', sandbox.url, '--range', RANGE, '--warehouse', warehouse];
}

async function finished(...all: readonly Running[]): Promise<void> {
  for (const { code, stderr } of await Promise.all(all.map((running) => running.finished)))
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
}

describe.each(stores)('every table of a warehouse in $name has the rows of one in a folder', (store) => {
  const isMissing = store.program === undefined || EXTENSIONS === undefined;
  describe.skipIf(isMissing)(`(skipped without ${store.name} and TONLAKE_DUCKDB_EXTENSIONS)`, () => {
    let server: S3Server;
    let env: Readonly<Record<string, string>>;

    beforeAll(async () => {
      server = await store.start();
      useS3(server);
      env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
    });

    const runAll = (warehouse: string, ...more: readonly string[]): Running =>
      startTonlake(['run', '--all', ...place(warehouse), ...more], { env });

    async function expectSame(warehouse: string): Promise<void> {
      expect(await hashTables(warehouse)).toEqual(wanted);
      expect((await verify(warehouse)).findings).toEqual([]);
    }

    test('after one writer', async () => {
      await finished(runAll('s3://lake/one'));
      await expectSame('s3://lake/one');
    });

    test('after four writers at once, each of everything', async () => {
      const warehouse = 's3://lake/four';
      await finished(...[1, 2, 3, 4].map(() => runAll(warehouse)));
      await expectSame(warehouse);
    });

    test('after four slices at once, and the run that closes the range', async () => {
      const warehouse = 's3://lake/sliced';
      await finished(...[1, 2, 3, 4].map((slice) => runAll(warehouse, '--slice', `${slice}/4`)));
      await finished(runAll(warehouse));
      await expectSame(warehouse);
    });

    test(`after a run whose store fails at every tenth request (TONLAKE_CRASH_SEED=${SEED})`, async () => {
      const relay = await startS3Relay(server);
      const chance = chanceOf(SEED);
      const faults: readonly S3Fault[] = [
        { status: 500, code: 'InternalError' },
        { status: 503, code: 'SlowDown' },
        'reset',
        'lose',
        'pass',
      ];
      const count: Record<string, number> = {};
      relay.fault = async () => {
        if (chance() >= 0.1) return 'pass';
        const fault = faults[Math.floor(chance() * faults.length)] ?? 'pass';
        const name = fault === 'pass' ? 'slow' : typeof fault === 'string' ? fault : String(fault.status);
        count[name] = (count[name] ?? 0) + 1;
        if (fault === 'pass') await delay(2000);
        return fault;
      };
      const args = ['run', '--all', ...place('s3://lake/faulty'), '--commit-every', '0'];
      await finished(startTonlake(args, { env: { ...env, ...relay.env } }));
      process.stdout.write(`${store.name}: ${relay.requests.length} requests, faults ${JSON.stringify(count)}\n`);
      expect(Object.keys(count)).toHaveLength(faults.length);
      await expectSame('s3://lake/faulty');
    });
  });
});
