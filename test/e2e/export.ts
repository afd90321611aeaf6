import { vi } from 'vitest';
import { openWarehouse, type RunReport } from '../../src/index.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { type CliOptions, type Finished, tonlake } from '../cli.ts';
import { contentOf } from '../verify/support.ts';

/** Rows and content hash of each table. */
export type Hashes = Readonly<Record<string, string>>;

/** Rows and content hash of every table of the chain that has rows; the quarantine tells of runs, not of the chain. */
export async function hashTables(path: string): Promise<Hashes> {
  const content = Object.entries(await contentOf(path)).filter(([, { rows }]) => rows > 0);
  return Object.fromEntries(content.map(([table, { rows, hash }]) => [table, `${rows} rows, ${hash}`]));
}

/** The rows of one query, every value as text. */
export async function query(path: string, sql: string): Promise<readonly (readonly string[])[]> {
  const warehouse = await openWarehouse(path);
  try {
    const { rows } = await warehouse.query(sql);
    return rows.map((row) => row.map(String));
  } finally {
    await warehouse.close();
  }
}

export interface Exported extends Finished {
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** The last line. */
  readonly report: RunReport;
}

/** `tonlake run transactions --json`. */
export async function exportRange(
  network: string,
  range: string,
  warehouse: string,
  more: readonly string[] = [],
  options: CliOptions = {},
): Promise<Exported> {
  return readExport(
    await tonlake(
      [
        ...['run', 'transactions', '--network', network, '--range', range, '--warehouse', warehouse, '--json'],
        ...['--workers', '0', ...more],
      ],
      options,
    ),
  );
}

/** Waits for the first request since the log of a sandbox was reset; the warehouse is opened before. */
export async function firstRequest(sandbox: Sandbox): Promise<void> {
  await vi.waitUntil(() => sandbox.requests.stats().requests > 0, { interval: 5, timeout: 60_000 });
}

/** What a run with `--json` printed. */
export function readExport(finished: Finished): Exported {
  const events = finished.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { ...finished, events, report: events.at(-1) };
}
