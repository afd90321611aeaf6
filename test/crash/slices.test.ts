import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EXTENSIONS, S3_PROGRAM, startS3, useS3 } from '../objects/s3-server.ts';
import { seeded } from '../rate-limit/simulation.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';

const RANGE = '1000:1479';
const SLICES = 16;
const AT_ONCE = 4;
const KILLS = 30;
const PIPELINES = ['transactions', 'jetton_transfers'];

const hasStore = S3_PROGRAM !== undefined && EXTENSIONS !== undefined;

test('16 slices in 16 processes into 16 folders, added to one, through 30 kills: the rows of one run', async () => {
  const folder = freshFolder();
  const places = Array.from({ length: SLICES }, (_, at) => join(folder, `slice-${at + 1}`));
  const random = seeded(11);
  const to = join(folder, 'w');
  const { wanted, kills } = await exportSlices((at) => places[at] ?? '', {}, random, KILLS - 5);
  let joinKills = 0;
  for (;;) {
    const run = startTonlake(['copy', '--add', ...places, to]);
    const timer = setTimeout(() => run.kill('SIGKILL'), joinKills < 5 ? 300 + random() * 1500 : 300_000);
    const { code, stderr } = await run.finished;
    clearTimeout(timer);
    if (code === 0) break;
    expect(stderr).toBe('');
    joinKills++;
  }
  expect(kills + joinKills).toBeGreaterThanOrEqual(KILLS - 5);
  await expectWhole(to, wanted);
});

test.skipIf(!hasStore)(
  '16 slices in 16 processes into one bucket, through 30 kills: the rows of one run (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  async () => {
    const server = await startS3();
    useS3(server);
    const env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
    const { wanted, kills } = await exportSlices(() => 's3://lake/w', env, seeded(12), KILLS);
    expect(kills).toBe(KILLS);
    await expectWhole('s3://lake/w', wanted, env);
  },
);

/** Exports each slice by a process that is started again until it is done, as Kubernetes and Airflow do. */
async function exportSlices(
  placeOf: (at: number) => string,
  env: Readonly<Record<string, string>>,
  random: () => number,
  most: number,
): Promise<{ readonly wanted: Awaited<ReturnType<typeof hashTables>>; readonly kills: number }> {
  const sandbox = await startTestSandbox({ faults: { slow: 1, slowMs: 40 } });
  const calm = join(freshFolder(), 'w');
  expect((await exportRange(sandbox.url, RANGE, calm, ['jetton_transfers'])).code).toBe(0);
  let kills = 0;
  const waiting = Array.from({ length: SLICES }, (_, at) => at);
  const work = async (): Promise<void> => {
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      const place = ['--network', sandbox.url, '--range', RANGE, '--slice', `${at + 1}/${SLICES}`];
      for (;;) {
        const args = ['run', ...PIPELINES, ...place, '--warehouse', placeOf(at), '--walk', 'masterchain'];
        const run = startTonlake([...args, '--json'], { env });
        const isToDie = kills < most && random() < 0.8;
        if (isToDie) {
          kills++;
          await delay(800 + random() * 2500);
          run.kill('SIGKILL');
        }
        const { code, signal } = await run.finished;
        if (code === 0) break;
        expect(signal).toBe('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await sandbox.close();
  return { wanted: await hashTables(calm), kills };
}

async function expectWhole(
  warehouse: string,
  wanted: Awaited<ReturnType<typeof hashTables>>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  expect((await tonlake(['status', ...PIPELINES, '--warehouse', warehouse, '--range', RANGE], { env })).code).toBe(0);
  expect(await hashTables(warehouse)).toEqual(wanted);
  expect((await verify(warehouse)).findings).toEqual([]);
}
