import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 20);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

/** Groups of neighbouring spans, apart from each other: all of a pipeline become one entry. */
const GROUPS = [1000, 1100, 1200, 1300];
const SPANS_A_GROUP = 4;

describe('kill -9 of a compaction', () => {
  test(`leaves the same rows and no leftovers after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const sandbox = await startSandbox({ blocks: 2000 });
    const source = join(freshFolder(), 'w');
    for (const group of GROUPS) {
      for (let at = 0; at < SPANS_A_GROUP; at++) {
        const { code } = await exportRange(sandbox.url, `${group + at * 10}:${group + at * 10 + 9}`, source);
        expect(code).toBe(0);
      }
    }
    await sandbox.close();
    const wanted = await hashTables(source);
    const ms = await measure(source);
    const chance = chanceOf(SEED);
    for (let kill = 1; kill <= KILLS; kill++) {
      const path = copyOf(source);
      const moment = Math.round(chance() * ms);
      process.stdout.write(`compact: kill ${kill} of ${KILLS} at ${moment} of ${Math.round(ms)} ms\n`);
      const run = startTonlake(['compact', '--warehouse', path, '--json']);
      const timer = setTimeout(() => run.kill('SIGKILL'), moment);
      await run.finished;
      clearTimeout(timer);
      expect(await hashTables(path)).toEqual(wanted);
      const again = await tonlake(['compact', '--warehouse', path, '--json']);
      expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
      expect(await hashTables(path)).toEqual(wanted);
      await expectWhole(path);
    }
  });
});

function copyOf(path: string): string {
  const copy = join(freshFolder(), 'w');
  cpSync(path, copy, { recursive: true });
  return copy;
}

async function measure(source: string): Promise<number> {
  const path = copyOf(source);
  const startedAt = performance.now();
  const { code } = await tonlake(['compact', '--warehouse', path]);
  expect(code).toBe(0);
  await expectWhole(path);
  return performance.now() - startedAt;
}

/** One entry for each pipeline, which claims nothing between the groups; nothing on the stage, and no file that no entry ever named. */
async function expectWhole(path: string): Promise<void> {
  const warehouse = await openWarehouse(path);
  const ledger = await warehouse.ledger();
  await warehouse.close();
  const spans = GROUPS.map((group) => ({ from: group, to: group + SPANS_A_GROUP * 10 - 1 }));
  expect(ledger.map((entry) => entry.spans)).toEqual([spans, spans]);
  expect(readdirSync(join(path, '_stage'))).toEqual([]);
  const merged = new Set(ledger.map(({ id }) => id));
  const files = readdirSync(join(path, 'tables'), { recursive: true }).map(String);
  const whole = files.filter((file) => [...merged].some((id) => file.endsWith(`-${id}.parquet`)));
  const named = ledger.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
  expect(whole.length).toBe(named.length);
}
