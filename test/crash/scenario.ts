import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import type { LedgerEntry } from '../../src/warehouse/index.ts';
import { startTonlake } from '../cli.ts';
import { exportRange, type Hashes, hashTables } from '../e2e/export.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

/** A run that is worth killing: three pipelines, and commits of each. */
const RANGE = '1000:1009,1060:1069';
const PACE = ['jetton_transfers'];

export type StoreName = 'w' | 'w.duckdb';

/** The steps of a commit at which test/crash/kill-at.mjs ends the process. */
export const STEPS = ['staged', 'rows', 'entry'] as const;
/** A step, and which of the commits that this process makes, from 1. */
export type Kill = `${(typeof STEPS)[number]} ${number}`;
/** Entries of an undisturbed run: blocks, transactions and transfers of two spans. */
export const COMMITS = 6;
const KILLER = fileURLToPath(new URL('kill-at.mjs', import.meta.url));

/** What an undisturbed run brings in, whatever the store. */
export async function exportUndisturbed(): Promise<Hashes> {
  const sandbox = await startSandbox();
  try {
    const path = join(freshFolder(), 'w');
    const { code, stderr } = await exportRange(sandbox.url, RANGE, path, PACE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await ledgerOf(path)).length).toBe(COMMITS);
    return await hashTables(path);
  } finally {
    await sandbox.close();
  }
}

/**
 * Kills the real process at steps of its commits, several times in a row on the same warehouse, looks whether that was where it ended, then
 * lets a run end, and looks at what is left.
 */
export async function killAndRerun(name: StoreName, kills: readonly Kill[], wanted: Hashes): Promise<void> {
  const sandbox = await startSandbox();
  try {
    const path = join(freshFolder(), name);
    const args = ['run', 'transactions', '--network', sandbox.url, '--range', RANGE, '--warehouse', path, '--json'];
    let entries = 0;
    for (const kill of kills) {
      const killed = startTonlake([...args, ...PACE], {
        node: ['--import', KILLER],
        env: { KILL_AT: kill },
      });
      const { signal, stderr } = await killed.finished;
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      const [step, commit] = kill.split(' ');
      entries += Number(commit) - (step === 'entry' ? 0 : 1);
      await expectEndedAt(step, path, entries);
    }
    const last = await exportRange(sandbox.url, RANGE, path, PACE);
    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    expect(last.report.complete).toBe(true);
    // What was committed is not fetched again.
    expect(await ledgerOf(path)).toHaveLength(COMMITS);
    expect(await hashTables(path)).toEqual(wanted);
    await expectNoLeftovers(path);
  } finally {
    await sandbox.close();
  }
}

/** The kill came in that step: its traces are there, and none of the next one. */
async function expectEndedAt(step: string | undefined, path: string, entries: number): Promise<void> {
  const named = await ledgerFiles(path);
  expect((await ledgerOf(path)).length, `entries after a kill at ${step}`).toBe(entries);
  if (path.endsWith('.duckdb')) return;
  const left = leftovers(path, named);
  const unnamed = left.filter((file) => file.startsWith('tables/'));
  const staged = left.filter((file) => file.startsWith('_stage/') && file.endsWith('.parquet'));
  expect({ unnamed: unnamed.length > 0, staged: staged.length > 0 }, left.join()).toEqual({
    unnamed: step === 'rows',
    // Those of the next span may be there.
    staged: step === 'staged' || expect.any(Boolean),
  });
}

async function ledgerOf(path: string): Promise<readonly LedgerEntry[]> {
  if (!existsSync(path)) return [];
  const warehouse = await openWarehouse(path);
  try {
    return await warehouse.ledger();
  } finally {
    await warehouse.close();
  }
}

/** Nothing beside the warehouse's own files and those that its ledger names. */
export async function expectNoLeftovers(path: string): Promise<void> {
  expect(leftovers(path, await ledgerFiles(path))).toEqual([]);
}

async function ledgerFiles(path: string): Promise<ReadonlySet<string>> {
  const ledger = await ledgerOf(path);
  const files = ledger.flatMap((entry) => Object.values(entry.tables)).flatMap((table) => table.files);
  return new Set([...files.map((file) => file.path), ...ledger.map(({ declaration }) => `declaration ${declaration}`)]);
}

function leftovers(path: string, named: ReadonlySet<string>): readonly string[] {
  if (path.endsWith('.duckdb')) return readdirSync(join(path, '..')).filter((name) => name !== 'w.duckdb');
  const own =
    /^(tonlake\.json|warehouse\.duckdb|_ledger\/(\d{8}|schema-[0-9a-f]{12})\.json|_checkpoints\/(catalog\.sha256|ledger\.stamp|settled\.json|\d{8}\.jsonl))$/;
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((item) => !item.isDirectory())
    .map((item) => join(item.parentPath, item.name).slice(path.length + 1))
    .filter((file) => !own.test(file) && !named.has(file.replace(/^pinned\//, 'tables/')))
    .filter(
      (file) => !named.has(file.replace(/^_declarations\/[a-z_]+-\d{8}-([0-9a-f]{16})\.json$/, 'declaration $1')),
    );
}

/** Numbers from 0 (inclusive) to 1 (exclusive) that a seed decides. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
