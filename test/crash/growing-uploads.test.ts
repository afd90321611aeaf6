import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openS3Store } from '../../src/objects/s3-store.ts';
import { type Finished, startTonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { EXTENSIONS, HAS_BUCKETS, type S3Fault, startS3, startS3Relay, useS3 } from '../objects/s3-server.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { chanceOf } from './scenario.ts';
import { unnamedFiles } from './unnamed-files.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 6);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);
/** Commits with three files each that are put while they grow. */
const RANGE = '1000:18999';

describe.skipIf(!HAS_BUCKETS)(
  'files that are put while they grow (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    test(`${KILLS} kills between parts, then a store that fails: nothing is lost, and nothing is left (TONLAKE_CRASH_SEED=${SEED})`, async () => {
      const sandbox = await startTestSandbox({ blocks: 20_000 });
      const server = await startS3();
      const relay = await startS3Relay(server);
      useS3(server);
      const folder = join(freshFolder(), 'w');
      await exportRange(sandbox.url, RANGE, folder);
      const warehouse = 's3://lake/w';
      const chance = chanceOf(SEED);
      const objects = openS3Store(warehouse);
      const uploadsLeft = () => objects.abortUploads('', Date.now() + 86_400_000);
      const isPart = ({ path }: { readonly path: string }) => path.includes('partNumber=');
      const filesThere = async () => (await objects.list('tables/')).map(({ key }) => key);

      const run = async (signal?: NodeJS.Signals, parts = 1, path = warehouse): Promise<Finished> => {
        const where = ['--range', RANGE, '-w', path, '--commit-every', '1h'];
        const env = { ...relay.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
        relay.requests.length = 0;
        const running = startTonlake(['run', 'transactions', '--network', sandbox.url, ...where], { env });
        if (signal !== undefined) {
          let ended: Finished | undefined;
          void running.finished.then((finished) => {
            ended = finished;
          });
          await expect
            .poll(() => ended !== undefined || relay.requests.filter(isPart).length >= parts, { timeout: 600_000 })
            .toBe(true);
          expect(ended).toBeUndefined();
          running.kill(signal);
        }
        return running.finished;
      };

      for (let kill = 1; kill <= KILLS; kill++) {
        const parts = 1 + Math.floor(chance() * 4);
        expect(await run('SIGKILL', parts)).toMatchObject({ signal: 'SIGKILL' });
        process.stdout.write(`uploads: kill ${kill} of ${KILLS} after ${parts} parts\n`);
      }
      expect(await uploadsLeft()).toBeGreaterThan(0);
      const filesBefore = new Set(await filesThere());
      // A run that is asked to end commits what it has, or aborts it.
      expect((await run('SIGINT', 1, 's3://lake/ended')).code).toBe(130);
      expect(await openS3Store('s3://lake/ended').abortUploads('', Date.now() + 86_400_000)).toBe(0);

      relay.fault = (passing): S3Fault => {
        if (passing.method !== 'PUT' && passing.method !== 'POST') return 'pass';
        const which = Math.floor(chance() * 12);
        const failures: readonly S3Fault[] = ['lose', 'reset', { status: 503, code: 'SlowDown' }];
        return (
          failures[which] ??
          (passing.method === 'POST' && which === 3 ? { status: 200, code: 'InternalError' } : 'pass')
        );
      };
      const last = await run();
      relay.fault = undefined;
      expect({ code: last.code, stderr: last.stderr }).toMatchObject({ code: 0 });
      expect(relay.requests.filter(isPart).length).toBeGreaterThan(3);
      expect(await hashTables(warehouse)).toEqual(await hashTables(folder));
      const reader = await openWarehouse(warehouse);
      const ledger = await reader.ledger();
      await reader.close();
      const named = new Set(
        ledger.flatMap(({ tables }) => Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path))),
      );
      // A writer that was killed between its last file and its entry leaves complete files, but the last run leaves none.
      const unnamed = (await filesThere()).filter((path) => !named.has(path));
      expect(unnamed.filter((path) => !filesBefore.has(path))).toEqual([]);
      expect(await unnamedFiles(warehouse, sandbox.url, relay)).toEqual([]);
      // An upload whose beginning was not answered has no writer.
      process.stdout.write(
        `uploads: ${unnamed.length} files of killed writers, ${await uploadsLeft()} uploads without a writer\n`,
      );
      await sandbox.close();
    });
  },
);
