import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Span } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteText } from '../sql/canonical-text.ts';
import { setMemory } from '../sql/database.ts';
import type { LedgerEntry, MartStamp, Store } from '../warehouse/index.ts';

/** The name that entries of a mart carry in the ledger. */
export function martPipeline(name: string): string {
  return `mart:${name}`;
}

/** Entries in force of a mart. */
export function heldEntries(store: Pick<Store, 'ledger'>, name: string): readonly LedgerEntry[] {
  return store.ledger().filter(({ mart, pipeline }) => mart !== undefined && pipeline === martPipeline(name));
}

export interface SelectedRows {
  readonly table: TableDef;
  /** Its columns are those of the table; its rows are in the table's order. */
  readonly select: string;
  readonly span: Span;
  readonly network: string;
  readonly stamp: MartStamp;
  /** Entries that the rows take the place of. */
  readonly before: readonly LedgerEntry[];
}

/** Commits the rows of a select in the place of older ones, in one step. @throws what DuckDB says of the select */
export async function commitSelect(store: Store, rows: SelectedRows): Promise<LedgerEntry> {
  const { table, select, span, network, stamp, before } = rows;
  const pipeline = martPipeline(table.name);
  const stage = store.stage(pipeline, span);
  try {
    await mkdir(stage.folder, { recursive: true });
    const path = join(stage.folder, 'select.parquet');
    await queryWithMemory(store, `COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
    await stage.adopt(table, path, { isSorted: true });
    const staged = await stage.finish();
    return await store.commit(staged, {
      ...{ network, pipeline, version: 1, span, verdict: 'sealed', requests: 0, retries: 0 },
      scope: stamp.day ?? 'all',
      mart: stamp,
      supersedes: before.map(({ id }) => id),
    });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** A store reads within a small bound of memory, which the distinct accounts of a busy day can be too many for. */
async function queryWithMemory({ query }: Store, sql: string): Promise<void> {
  try {
    await query(sql);
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('Out of Memory Error'))) throw error;
    const { rows } = await query("SELECT current_setting('memory_limit')");
    await query("SET memory_limit = '2GB'");
    try {
      await query(sql);
    } finally {
      await query(setMemory(String(rows[0]?.[0])));
    }
  }
}
