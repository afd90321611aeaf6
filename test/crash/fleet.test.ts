import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type Running, startTonlake } from '../cli.ts';
import { exportRange, hashTables, readExport } from '../e2e/export.ts';
import { EXTENSIONS, S3_PROGRAM, startS3, useS3 } from '../objects/s3-server.ts';
import { seeded } from '../rate-limit/simulation.ts';
import { hasRedis, startRedis } from '../redis-server.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';

/** Takes longer than all kills. */
const RANGE = '1000:1899';
const WORKERS = 3;
const KILLS = 30;

const hasStore = S3_PROGRAM !== undefined && EXTENSIONS !== undefined;

test.skipIf(!hasRedis)('30 kills of workers, of the run that asks, and of Redis: the same rows', async () => {
  await survive(join(freshFolder(), 'w'), {});
});

test.skipIf(!hasRedis || !hasStore)(
  'the same with a warehouse in an object store, to which the workers commit (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  async () => {
    const server = await startS3();
    useS3(server);
    process.env['TONLAKE_DUCKDB_EXTENSIONS'] = EXTENSIONS;
    await survive('s3://lake/w', { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' });
  },
);

async function survive(warehouse: string, env: Readonly<Record<string, string>>): Promise<void> {
  const redis = await startRedis();
  const sandbox = await startSandbox({ faults: { slow: 1, slowMs: 60 } });
  const calm = join(freshFolder(), 'w');
  const list = ['jetton_transfers'];
  expect((await exportRange(sandbox.url, RANGE, calm, list)).code).toBe(0);
  const place = ['--network', sandbox.url, '--warehouse', warehouse, '--queue', redis.url, '--walk', 'masterchain'];
  const ask = (): Running =>
    startTonlake(['run', 'transactions', ...list, ...place, '--range', RANGE, '--order-blocks', '30', '--json'], {
      env,
    });
  const work = (): Running =>
    startTonlake(['worker', ...place.slice(0, -2), '--workers', '0', '--concurrency', '2'], { env });
  let asking = ask();
  let isOver = false;
  const watch = (run: Running): void => void run.finished.then(({ code }) => (isOver ||= code === 0));
  watch(asking);
  const workers = Array.from({ length: WORKERS }, work);
  const random = seeded(7);
  const killed = { workers: 0, asking: 0, redis: 0 };
  for (let kill = 0; kill < KILLS && !isOver; kill++) {
    await delay(1500 + random() * 3000);
    const target = random();
    if (target < 0.15) {
      killed.redis++;
      await redis.restart();
    } else if (target < 0.35) {
      killed.asking++;
      asking.kill('SIGKILL');
      await asking.finished;
      if (isOver) break;
      asking = ask();
      watch(asking);
    } else {
      killed.workers++;
      const index = Math.floor(random() * WORKERS);
      workers[index]?.kill('SIGKILL');
      workers[index] = work();
    }
  }
  process.stdout.write(`kills: ${JSON.stringify(killed)}\n`);
  expect(killed.workers + killed.asking + killed.redis).toBe(KILLS);
  const { code, report, stderr } = readExport(await asking.finished);
  for (const worker of workers) worker.kill('SIGKILL');
  expect({ code, complete: report?.complete, stderr }).toEqual({ code: 0, complete: true, stderr: '' });
  expect(await hashTables(warehouse)).toEqual(await hashTables(calm));
  expect((await verify(warehouse)).findings).toEqual([]);
  await sandbox.close();
}
