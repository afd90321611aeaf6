import { vi } from 'vitest';
import { hashedColumns } from '../../src/audit/content-hash.ts';
import { type Span, unionSpans } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { RunReport } from '../../src/export/run.ts';
import { quoteName } from '../../src/sql/canonical-text.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { spansIn } from '../../src/warehouse/query/coverage.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { type CliOptions, type Finished, tonlake } from '../cli.ts';
import type { TestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';

/** Rows of each table, and the sum of their hashes. */
export type Hashes = Readonly<Record<string, string>>;

/**
 * Rows of every table of the chain that has any, and the sum of their hashes, which takes half the time of a content hash. The quarantine
 * tells of runs, not of the chain.
 */
export async function hashTables(path: string): Promise<Hashes> {
  const { tables } = await loadRegistry();
  const reader = await openReader(path, tables);
  try {
    const present = new Set((await reader.ledger()).flatMap((entry) => Object.keys(entry.tables)));
    const hashes: Record<string, string> = {};
    for (const table of tables) {
      if (table.name === 'quarantine' || !present.has(table.name)) continue;
      const columns = hashedColumns(table).map(({ name }) => quoteName(name));
      const { rows } = await reader.query(
        `SELECT count(*), sum(hash) FROM (SELECT hash(${columns.join(', ')}) AS hash FROM ${quoteName(table.name)})`,
      );
      const [count, sum] = rows[0] ?? [];
      if (count !== 0n) hashes[table.name] = `${count} rows, ${sum}`;
    }
    return hashes;
  } finally {
    await reader.close();
  }
}

/** Blocks whose transactions agree with their headers. Hashes are not those of cells while a test sandbox lies. */
export async function countedIn(path: string): Promise<readonly Span[]> {
  const { pipelines } = await readStatus(path);
  const found = pipelines.find(({ pipeline }) => pipeline === 'transactions');
  return unionSpans([...(found?.proven ?? []), ...spansIn(found?.unproven ?? [], 'made-up hashes')]);
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
        ...[...more],
      ],
      options,
    ),
  );
}

/** Waits for the first request since the log of a sandbox was reset; the warehouse is opened before. */
export async function firstRequest(sandbox: TestSandbox): Promise<void> {
  await vi.waitUntil(() => sandbox.requests.stats().requests > 0, { interval: 5, timeout: 200_000 });
}

/** What a run with `--json` printed. */
export function readExport(finished: Finished): Exported {
  const events = finished.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { ...finished, events, report: events.at(-1) };
}
