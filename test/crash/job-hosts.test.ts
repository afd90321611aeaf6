import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EXTENSIONS, HAS_BUCKETS, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { KILLED_ARGS, killedJob, readJobResult } from './job-scenario.ts';
import { chanceOf } from './scenario.ts';

const TRIES = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);
test.skipIf(!HAS_BUCKETS)(
  `of two hosts that start one job on a bucket, one runs it, in ${TRIES} tries with a kill -9 (TONLAKE_CRASH_SEED=${SEED})`,
  async () => {
    const server = await startS3();
    useS3(server);
    const sandbox = await startTestSandbox({ blocks: 2000, faults: { slow: 1, slowMs: 25 } });
    const chance = chanceOf(SEED);
    /** A host: its state, and its copy of the job file. A run goes on by the same words alone, those of a notice too. */
    const hostOf = (name: string) => {
      const cwd = freshFolder();
      const notify = 'notify: [{command: [sh, -c, "cat >> told"], on: always}]\n';
      writeFileSync(
        join(cwd, 'nightly.yaml'),
        killedJob(sandbox.url, `s3://lake/${name}`, `s3://lake/${name}-out`) + notify,
      );
      const env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '', TONLAKE_STATE_DIR: join(cwd, 'state') };
      return { cwd, env };
    };
    type Host = ReturnType<typeof hostOf>;
    const runsOf = async (host: Host) => {
      const { stdout } = await tonlake(['job', 'list', 'nightly.yaml', '--json'], host);
      return JSON.parse(stdout).runs.map(({ id, state }: Record<string, string>) => ({ id, state }));
    };
    const resultOf = async (name: string) => {
      const result = await readJobResult(`s3://lake/${name}`, join(server.folder, 'lake', `${name}-out`));
      // A report names its warehouse.
      return JSON.parse(JSON.stringify(result).replaceAll(`s3://lake/${name}`, 's3://lake/w'));
    };
    try {
      const alone = hostOf('alone');
      const startedAt = performance.now();
      expect((await startTonlake(KILLED_ARGS, alone).finished).code).toBe(0);
      const lasts = performance.now() - startedAt;
      const wanted = await resultOf('alone');
      let refused = 0;
      for (let round = 1; round <= TRIES; round++) {
        const name = `round-${round}`;
        const hosts = [hostOf(name), hostOf(name)] as const;
        const runs = hosts.map((host) => startTonlake(KILLED_ARGS, host));
        const [victim, after] = [Math.floor(chance() * 2), Math.round(chance() * lasts)];
        await delay(after);
        runs[victim]?.kill('SIGKILL');
        const ends = await Promise.all(runs.map((run) => run.finished));
        const survivor = ends[1 - victim];
        expect(survivor?.code, survivor?.stderr).toBe(0);
        refused += ends.filter(({ stdout }) => stdout.includes('is run already')).length;
        // Whoever was killed, the other host ends what it began; a run that is done is not done again.
        const again = await startTonlake(KILLED_ARGS, hosts[1 - victim] ?? hosts[0]).finished;
        expect(again.code, again.stderr).toBe(0);
        process.stdout.write(`hosts: try ${round} of ${TRIES}: host ${victim} killed after ${after} ms\n`);
        expect(await resultOf(name)).toEqual(wanted);
        const [first, second] = [await runsOf(hosts[0]), await runsOf(hosts[1])];
        expect(first).toEqual(second);
        expect(first.map(({ state }: Record<string, string>) => state)).toEqual(first.map(() => 'done'));
      }
      expect(refused).toBeGreaterThan(TRIES / 2);
    } finally {
      await sandbox.close();
    }
  },
);
