import { StoreError } from './errors.ts';
import { formatBytes, formatCount } from './format.ts';
import { resolveNetwork } from './network.ts';
import { loadRegistry } from './registry.ts';
import { formatSpans, type Span, subtractSpans, totalSize } from './span.ts';
import { doneSpans, quarantinedSpans } from './store/progress.ts';
import { openReader } from './store/reader.ts';
import type { LedgerEntry } from './store/store.ts';

/** What a warehouse holds of one pipeline. */
export interface PipelineStatus {
  readonly pipeline: string;
  readonly done: readonly Span[];
  /** What is missing between the first and the last block that is done or quarantined. */
  readonly holes: readonly Span[];
  readonly quarantined: readonly Span[];
  /** Masterchain blocks that are done. */
  readonly blocks: number;
  readonly rows: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  readonly commits: number;
  /** ISO 8601, UTC. */
  readonly lastCommit: string | undefined;
}

export interface WarehouseStatus {
  readonly network: string;
  readonly warehouse: string;
  readonly store: 'parquet' | 'duckdb';
  /** Records in quarantine. */
  readonly quarantined: number;
  readonly pipelines: readonly PipelineStatus[];
}

/**
 * Reads what a warehouse holds.
 *
 * @param network when given, the warehouse must hold it
 * @throws {StoreError}
 */
export async function readStatus(warehouse: string, network?: string): Promise<WarehouseStatus> {
  const registry = await loadRegistry();
  const reader = await openReader(warehouse, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, network);
    const ledger = await reader.ledger();
    const names = [...new Set(ledger.map((entry) => entry.pipeline))].sort();
    return {
      network: reader.network,
      warehouse: reader.path,
      store: reader.kind,
      quarantined: ledger.reduce((sum, entry) => sum + (entry.tables['quarantine']?.rows ?? 0), 0),
      pipelines: names.map((name) => statusOf(ledger, name)),
    };
  } finally {
    await reader.close();
  }
}

/** @throws {StoreError} `other-network` */
export function requireSameNetwork(path: string, held: string, asked: string | undefined): void {
  if (asked === undefined || resolveNetwork(asked).name === held) return;
  throw new StoreError(`store: warehouse ${path} holds ${held}, not ${resolveNetwork(asked).name}`, {
    code: 'other-network',
    hint: 'choose another --warehouse',
  });
}

function statusOf(ledger: readonly LedgerEntry[], pipeline: string): PipelineStatus {
  const entries = ledger.filter((entry) => entry.pipeline === pipeline);
  const done = doneSpans(ledger, pipeline);
  const quarantined = quarantinedSpans(ledger, pipeline);
  const from = Math.min(...entries.map((entry) => entry.span.from));
  const to = Math.max(...entries.map((entry) => entry.span.to));
  const rows: Record<string, number> = {};
  const tables = entries.flatMap((entry) => Object.entries(entry.tables));
  for (const [table, entry] of tables) {
    if (table !== 'quarantine') rows[table] = (rows[table] ?? 0) + entry.rows;
  }
  const files = tables.flatMap(([, entry]) => entry.files);
  return {
    pipeline,
    done,
    holes: subtractSpans([{ from, to }], [...done, ...quarantined]),
    quarantined,
    blocks: totalSize(done),
    rows,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    commits: entries.length,
    lastCommit: entries.at(-1)?.committedAt,
  };
}

/** The status for people. */
export function formatStatus(status: WarehouseStatus): string {
  const lines = [`${status.network} in ${status.warehouse} (${status.store})`];
  if (status.pipelines.length === 0) lines.push('', 'nothing is committed yet');
  for (const pipeline of status.pipelines) {
    const rows = Object.entries(pipeline.rows).map(([table, count]) => `${formatCount(count)} ${table}`);
    lines.push(
      '',
      pipeline.pipeline,
      `  done         ${formatSpans(pipeline.done)} (${formatCount(pipeline.blocks)} masterchain blocks)`,
      `  holes        ${formatSpans(pipeline.holes)}`,
      `  quarantined  ${formatSpans(pipeline.quarantined)}`,
      `  rows         ${rows.join(', ')}`,
    );
    if (status.store === 'parquet') {
      lines.push(`  files        ${formatCount(pipeline.files)} (${formatBytes(pipeline.bytes)})`);
    }
    lines.push(`  commits      ${formatCount(pipeline.commits)}, the last ${pipeline.lastCommit ?? 'never'}`);
  }
  if (status.quarantined > 0) {
    const records = status.quarantined === 1 ? 'record' : 'records';
    lines.push(
      '',
      `${formatCount(status.quarantined)} ${records} in quarantine: tonlake sql "select * from quarantine"`,
    );
  }
  return `${lines.join('\n')}\n`;
}
