import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { openWarehouse } from '../../src/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { openStore } from '../../src/warehouse/index.ts';
import { type Running, startTonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { EXTENSIONS, S3_PROGRAM, startS3, useS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';
import { listAll } from '../warehouse/warehouses.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 20);
const WRITERS = Number(process.env['TONLAKE_CRASH_WRITERS'] ?? 4);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);
const LAST = 1000 + WRITERS * 100 - 1;

const isMissing = S3_PROGRAM === undefined || EXTENSIONS === undefined;

describe.skipIf(isMissing)(
  'kill -9 of writers of one bucket (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    test(`${WRITERS} writers, ${KILLS} kills: nothing is lost or there twice, and nothing is left (TONLAKE_CRASH_SEED=${SEED})`, async () => {
      const sandbox = await startSandbox();
      const server = await startS3();
      useS3(server);
      process.env['TONLAKE_DUCKDB_EXTENSIONS'] = EXTENSIONS;
      const folder = join(freshFolder(), 'w');
      const range = `1000:${LAST}`;
      await exportRange(sandbox.url, range, folder);
      const warehouse = 's3://lake/w';
      const env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
      const chance = chanceOf(SEED);
      // Neighbours share half of their ranges, so that they meet.
      const ranges = Array.from({ length: WRITERS }, (_, w) => `${1000 + w * 100}:${Math.min(LAST, 1149 + w * 100)}`);
      let kills = 0;
      let isOver = false;
      const live = new Map<number, Running>();
      const args = (own: string) => ['run', 'transactions', '--network', sandbox.url, '--range', own, '-w', warehouse];
      const write = async (w: number): Promise<void> => {
        for (;;) {
          const running = startTonlake([...args(ranges[w] ?? ''), '--workers', '0', '--commit-every', '0'], { env });
          live.set(w, running);
          const { code, signal, stderr } = await running.finished;
          live.delete(w);
          if (code === 0 && (kills >= KILLS || isOver)) return;
          if (signal !== 'SIGKILL') expect({ code, stderr }).toMatchObject({ code: 0 });
        }
      };
      const kill = async (): Promise<void> => {
        while (kills < KILLS) {
          await realEffects.sleep(200 + chance() * 1300);
          const [w] = [...live.keys()].sort(() => chance() - 0.5);
          if (w === undefined) continue;
          live.get(w)?.kill('SIGKILL');
          kills++;
          process.stdout.write(`bucket: kill ${kills} of ${KILLS}, writer ${w}\n`);
        }
        isOver = true;
      };
      await Promise.all([kill(), ...ranges.map((_, w) => write(w))]);
      expect(await hashTables(warehouse)).toEqual(await hashTables(folder));
      await sandbox.close();
      const disk = join(server.folder, 'lake/w');
      const files = async () => (await listAll(disk)).filter((name) => name.startsWith('tables/'));
      const old = Date.now() / 1000 - 86_400 * 2;
      for (const name of await files()) utimesSync(join(disk, name), old, old);
      const { tables } = await loadRegistry();
      const store = await openStore({
        path: warehouse,
        network: sandbox.url,
        tables,
        effects: realEffects,
        graceMs: -1e9,
      });
      const removed = await store.clearSuperseded();
      const named = store.ledger().flatMap((entry) => Object.values(entry.tables).flatMap((table) => table.files));
      await store.close();
      process.stdout.write(`bucket: ${removed} files that no entry names were removed, ${named.length} stay\n`);
      expect(await files()).toEqual(named.map(({ path }) => path).sort());
      const reader = await openWarehouse(warehouse);
      const spans = (await reader.ledger()).map(({ pipeline, span }) => `${pipeline} ${span.from}`);
      expect(new Set(spans).size).toBe(spans.length);
      await reader.close();
    });
  },
);
