import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openWarehouse } from '../../src/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake } from '../cli.ts';
import { exportRange, type Hashes, hashTables, readExport } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';

/** A run that is worth killing: three pipelines, two commits of each, some seconds. */
const RANGE = '1000:1029,1060:1089';
/** One request at a time and for each block, so that a run has many moments. The first commit of the list has two spans. */
const PACE = ['jetton_transfers', '--walk', 'masterchain', '--concurrency', '4'];
const SLOW = { slow: 1, slowMs: 25 };

export type StoreName = 'w' | 'w.duckdb';

/** What an undisturbed run brings in, whatever the store, and how long it takes. */
export async function measureRun(): Promise<{ readonly hashes: Hashes; readonly ms: number }> {
  const sandbox = await startSandbox({ faults: SLOW });
  try {
    const path = join(freshFolder(), 'w');
    const startedAt = performance.now();
    const { code, stderr } = await exportRange(sandbox.url, RANGE, path, PACE);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const ms = performance.now() - startedAt;
    return { hashes: await hashTables(path), ms };
  } finally {
    await sandbox.close();
  }
}

/**
 * Kills the real process, several times in a row on the same warehouse, then lets a run end, and looks at what is left.
 *
 * @param moments when to kill each time, in milliseconds from the start of the process
 */
export async function killAndRerun(name: StoreName, moments: readonly number[], wanted: Hashes): Promise<void> {
  const sandbox = await startSandbox({ faults: SLOW });
  try {
    const path = join(freshFolder(), name);
    const args = ['run', 'transactions', '--network', sandbox.url, '--range', RANGE, '--warehouse', path, '--json'];
    let committed = 0;
    for (const moment of moments) {
      const run = startTonlake([...args, ...PACE]);
      const timer = setTimeout(() => run.kill('SIGKILL'), moment);
      const { code, signal, stderr, events } = readKilled(await run.finished);
      clearTimeout(timer);
      expect(code === 0 || signal === 'SIGKILL', stderr).toBe(true);
      committed += events.filter(({ event }) => event === 'span').length;
    }
    const last = await exportRange(sandbox.url, RANGE, path, PACE);
    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    expect(last.report.complete).toBe(true);
    // What was told as committed is not fetched again.
    expect(last.report.spans + committed).toBeLessThanOrEqual(6);
    expect(await hashTables(path)).toEqual(wanted);
    await expectNoLeftovers(path);
  } finally {
    await sandbox.close();
  }
}

/** A killed process may leave half a line. */
function readKilled(finished: Parameters<typeof readExport>[0]): ReturnType<typeof readExport> {
  return readExport({ ...finished, stdout: finished.stdout.replace(/[^\n]*$/, '') });
}

/** Nothing beside the warehouse's own files and those that its ledger names. */
export async function expectNoLeftovers(path: string): Promise<void> {
  expect(leftovers(path, await ledgerFiles(path))).toEqual([]);
}

async function ledgerFiles(path: string): Promise<ReadonlySet<string>> {
  const warehouse = await openWarehouse(path);
  try {
    const ledger = await warehouse.ledger();
    const files = ledger.flatMap((entry) => Object.values(entry.tables)).flatMap((table) => table.files);
    return new Set([
      ...files.map((file) => file.path),
      ...ledger.map(({ declaration }) => `declaration ${declaration}`),
    ]);
  } finally {
    await warehouse.close();
  }
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
