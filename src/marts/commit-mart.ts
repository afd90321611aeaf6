import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Span, unionSpans } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import { type LedgerEntry, type MartStamp, type Store, spansOf } from '../warehouse/index.ts';

const PREFIX = 'mart:';

/** The pipeline name of a mart's entries in the ledger. */
export function martPipeline(name: string): string {
  return PREFIX + name;
}

/** The mart of a pipeline name, if it is one. */
export function martNamed(pipeline: string): string | undefined {
  return pipeline.startsWith(PREFIX) ? pipeline.slice(PREFIX.length) : undefined;
}

/** Active entries of a mart. */
export function martEntries(entries: readonly LedgerEntry[], name: string): readonly LedgerEntry[] {
  return entries.filter(({ mart, pipeline }) => mart !== undefined && pipeline === martPipeline(name));
}

/** The blocks with rows in a mart: those of its days, or all if it is not built day by day. @param entries in force */
export function builtSpans(entries: readonly LedgerEntry[], name: string): readonly Span[] {
  const own = martEntries(entries, name);
  const days = own.filter(({ mart }) => mart?.day !== undefined);
  if (own.length > 0 && days.length === 0) return [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
  return unionSpans(days.flatMap(spansOf));
}

interface SelectedRows {
  readonly table: TableDef;
  /** A select with the columns and row order of the table. */
  readonly select: string;
  readonly span: Span;
  readonly network: string;
  /** Called when the rows are selected. */
  readonly stamp: () => Promise<MartStamp>;
  /** Entries that the rows replace. */
  readonly before: readonly LedgerEntry[];
}

/** Replaces older rows by those of a select, in one commit. @throws DuckDB's error if the select fails */
export async function commitSelect(store: Store, query: Query, rows: SelectedRows): Promise<LedgerEntry> {
  const { table, select, span, network, before } = rows;
  const pipeline = martPipeline(table.name);
  const stage = store.stage(span);
  try {
    await mkdir(stage.folder, { recursive: true });
    const path = join(stage.folder, 'select.parquet');
    const copy = `COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`;
    await query(copy);
    const stamp = await rows.stamp();
    await stage.adopt(table, path, { isSorted: true });
    const staged = await stage.finish();
    return await store.commit(staged, {
      network,
      pipeline,
      version: 1,
      span,
      verdict: 'accepted',
      requests: 0,
      retries: 0,
      scope: stamp.day ?? 'all',
      mart: stamp,
      supersedes: before.map(({ id }) => id),
    });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}
