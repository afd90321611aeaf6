import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { type Running, startTonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import {
  EXTENSIONS,
  MINIO_PROGRAM,
  S3_PROGRAM,
  type S3Relay,
  startMinio,
  startS3,
  startS3Relay,
  useS3,
} from '../objects/s3-server.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { chanceOf } from './scenario.ts';
import { unnamedFiles } from './unnamed-files.ts';

/** 0 to measure what the same takes without any. */
const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 1000);
const KILL_EVERY_MS = 1000;
/** Attempts to commit between two kills, at least: on a busy machine, no writer would get anywhere otherwise. */
const ATTEMPTS_BETWEEN = 4;
const WRITERS = Number(process.env['TONLAKE_CRASH_WRITERS'] ?? 16);
/** Blocks of each writer, no two of which are neighbours: each is a commit of blocks and one of transactions. */
const BLOCKS = 13;
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

const stores = [
  { name: 'versitygw', program: S3_PROGRAM, start: startS3 },
  { name: 'MinIO', program: MINIO_PROGRAM, start: startMinio },
];

/** The range of a writer: its own blocks and half of those of the next one, so that they meet. */
function rangeOf(writer: number): string {
  const first = writer * BLOCKS;
  const last = Math.min(WRITERS * BLOCKS, first + Math.ceil(BLOCKS * 1.5));
  const blocks = Array.from({ length: last - first }, (_, n) => 1000 + 2 * (first + n));
  return blocks.map((seqno) => `${seqno}:${seqno}`).join(',');
}

describe.each(stores)('kill -9 of writers of one bucket in $name', (store) => {
  const isMissing = store.program === undefined || EXTENSIONS === undefined;
  test.skipIf(isMissing)(
    `${WRITERS} writers, one killed each second: nothing is lost, there twice or left over (TONLAKE_CRASH_SEED=${SEED}; skipped without ${store.name} and TONLAKE_DUCKDB_EXTENSIONS)`,
    async () => {
      const sandbox = await startTestSandbox();
      const relay = await startS3Relay(await store.start());
      useS3(relay);
      const folder = `${freshFolder()}/w`;
      const ranges = Array.from({ length: WRITERS }, (_, writer) => rangeOf(writer));
      await exportRange(sandbox.url, ranges.join(','), folder);
      const warehouse = 's3://lake/w';
      const args = ['run', 'transactions', '--network', sandbox.url, '--warehouse', warehouse];
      const { kills, seconds } = await writeAll(
        relay,
        ranges.map(
          (range) => () => startTonlake([...args, '--range', range, '--commit-every', '0'], { env: relay.env }),
        ),
      );
      report(store.name, kills, seconds, relay);
      expect(await hashTables(warehouse)).toEqual(await hashTables(folder));
      expect((await verify(warehouse)).findings).toEqual([]);
      const reader = await openWarehouse(warehouse);
      const spans = (await reader.ledger()).map(({ pipeline, span }) => `${pipeline} ${span.from}`);
      await reader.close();
      expect(new Set(spans).size).toBe(spans.length);
      expect(spans.length).toBe(2 * WRITERS * BLOCKS);
      expect(await unnamedFiles(warehouse, sandbox.url, relay)).toEqual([]);
      await sandbox.close();
    },
  );
});

/** Keeps all writers running until each has done its range, and kills one of them each second. */
async function writeAll(relay: S3Relay, starts: readonly (() => Running)[]) {
  const chance = chanceOf(SEED);
  const live = new Set<Running>();
  const startedAt = performance.now();
  let kills = 0;
  let isOver = false;
  const write = async (start: () => Running): Promise<void> => {
    for (;;) {
      const running = start();
      live.add(running);
      const { code, signal, stderr } = await running.finished;
      live.delete(running);
      if (signal === 'SIGKILL') continue;
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return;
    }
  };
  const kill = async (): Promise<void> => {
    let attempts = 0;
    while (kills < KILLS && !isOver) {
      await realEffects.sleep(KILL_EVERY_MS);
      const now = relay.requests.filter(isCommit).length;
      if (now < attempts + ATTEMPTS_BETWEEN) continue;
      attempts = now;
      const [victim] = [...live].sort(() => chance() - 0.5);
      if (victim === undefined) continue;
      victim.kill('SIGKILL');
      kills++;
    }
  };
  const killing = kill();
  await Promise.all(starts.map(write));
  isOver = true;
  await killing;
  return { kills, seconds: (performance.now() - startedAt) / 1000 };
}

function isCommit({ method, path }: S3Relay['requests'][number]): boolean {
  return method === 'PUT' && path.includes('/_ledger/0');
}

/** Prints a row of the table in docs/performance.md. */
function report(name: string, kills: number, seconds: number, { requests }: S3Relay): void {
  const puts = requests.filter(isCommit);
  const commits = puts.filter(({ status }) => status === 200).length;
  const conflicts = puts.filter(({ status }) => status === 412 || status === 409).length;
  const each = (total: number): string => (total / commits).toFixed(2);
  const cells = [name, WRITERS, commits, kills, conflicts, each(conflicts), seconds.toFixed(0), each(seconds)];
  process.stdout.write(
    `\nstore | writers | commits | kills | conflicts | per commit | seconds | per commit | requests\n`,
  );
  process.stdout.write(`${[...cells, each(requests.length)].join(' | ')}\n`);
}
