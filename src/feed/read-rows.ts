import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import { toRecordBatch } from '../decode/arrow.ts';
import type { BatchOf } from '../export/batch-queue.ts';
import { decodeGroups } from '../parquet/read-footer.ts';
import { columnOf, quoteName, quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import type { NextRows } from './next-rows.ts';

/** A warehouse that is open for reading or for writing. */
export interface FeedView {
  readonly network: string;
  readonly query: Query;
  log(after: number, most?: number): Promise<readonly LedgerEntry[]>;
  ledger(): Promise<readonly LedgerEntry[]>;
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
}

/** Plain encoding, which `decodeGroups` reads. */
const PLAIN = 'FORMAT parquet, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 61440';

/** SQL for the rows of a table, in the order of the table. */
export function selectRows(view: Pick<FeedView, 'select'>, { entries, limits }: NextRows, table: TableDef): string {
  const names = table.columns.map(({ name }) => quoteName(name)).join(', ');
  const where = limits?.conditions.get(table.name) ?? 'true';
  const order = table.sort.map(quoteName).join(', ');
  return `SELECT ${names} FROM (${view.select(table, entries)}) WHERE ${where} ORDER BY ${order}`;
}

/** The rows as Arrow batches; undefined if the row counts differ from the ledger. */
export async function readRows(view: FeedView, rows: NextRows): Promise<readonly BatchOf[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'tonlake-feed-'));
  try {
    const batches: BatchOf[] = [];
    for (const table of rows.tables) {
      const path = join(folder, `${table.name}.parquet`);
      const copied = await view.query(`COPY (${selectRows(view, rows, table)}) TO ${quoteText(path)} (${PLAIN})`);
      const count = Number(copied.rows[0]?.[0] ?? 0);
      if (count !== (rows.limits?.rows?.get(table.name) ?? count)) return undefined;
      if (count === 0) continue;
      const columns = table.columns.map(({ name }) => columnOf(table, name));
      for (const batch of decodeGroups(await readFile(path), table, columns)) {
        batches.push({ table: table.name, batch: toRecordBatch(batch) });
      }
      await rm(path);
    }
    return batches;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
