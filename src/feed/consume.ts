import { type Effects, realEffects } from '../core/effects.ts';
import { StoreError, usage } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import type { BatchOf } from '../export/batch-queue.ts';
import { type LedgerEntry, openReader, type Reader } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { type Cursor, foreignCursor, formatCursor, parseCursor, requireSameLedger, startAt } from './cursor.ts';
import { type FollowedTables, followedTables } from './followed-tables.ts';
import { type LedgerState, type NextRows, planNext } from './next-rows.ts';
import { type FeedView, readRows } from './read-rows.ts';

export interface ConsumeOptions {
  /** Folder of Parquet files, or a DuckDB file. */
  readonly warehouse: string;
  /** Tables of pipelines that are exported by blocks: `transactions`, `messages`, `jetton_transfers` ... */
  readonly tables: readonly string[];
  /** Cursor of the last processed rows. Default: starts with the first row of the warehouse. */
  readonly cursor?: string | undefined;
  /** True to wait for further commits, false to return after the last row. Default true. */
  readonly wait?: boolean | undefined;
  /** Pause between two polls of the ledger, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined;
  /** Approximate number of rows per iteration; at least those of one block. Default 50,000. */
  readonly batchRows?: number | undefined;
  /** Ends the iteration when aborted: it rejects with the signal's reason, as `run` does. */
  readonly signal?: AbortSignal | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
}

/** Rows of some blocks of one pipeline, proven and committed. */
export interface ConsumedRows {
  readonly pipeline: string;
  /** The masterchain blocks that the rows belong to. */
  readonly spans: readonly Span[];
  /**
   * True if the blocks were delivered before and read again since: remove their rows, or overwrite rows with the same key. Tables of lists
   * that are read by logical time have no block column; for them, the rows may be new or replace earlier ones.
   */
  readonly replaces: boolean;
  /** Tables without rows are omitted. A table can have several batches. */
  readonly batches: readonly BatchOf[];
  /** Resumes after these rows. Store it together with their effect. */
  readonly cursor: string;
}

const POLL_MS = 1000;
const BATCH_ROWS = 50_000;

/**
 * Yields the rows of a warehouse in commit order, and then those of each further commit. A consumer that stores the cursor together with the
 * effect of the rows, and resumes from it, sees every row exactly once.
 *
 * @throws {UsageError} `foreign-cursor`, `unknown-table`; for a text that is no cursor, tables of another cursor, and tables of readings
 * @throws {StoreError} `no-warehouse`; `busy` without `wait`, while a process writes a DuckDB warehouse. The reason of an aborted signal
 */
export async function* consume(options: ConsumeOptions): AsyncGenerator<ConsumedRows> {
  const { effects = realEffects, wait = true, pollMs = POLL_MS, signal } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const followed = followedTables(registry, options.tables);
  let reader: Reader | undefined;
  const close = async (): Promise<void> => {
    const open = reader;
    reader = undefined;
    await open?.close();
  };
  let cursor = options.cursor === undefined ? undefined : parseCursor(options.cursor);
  if (cursor !== undefined) requireSameTables(cursor, options.tables);
  const poll = async () => {
    const view = reader ?? (await openReader(options.warehouse, registry.tables));
    reader = view;
    try {
      cursor ??= startAt(view.network, await view.ledger(), followed, options.tables);
      return await nextRows(view, followed, cursor, options.batchRows);
    } finally {
      // An open reader blocks writers of a DuckDB file.
      if (view.blocksWriters) await close();
    }
  };
  try {
    for (;;) {
      signal?.throwIfAborted();
      const next = await poll().catch((error: unknown) => {
        if (!wait || !(error instanceof StoreError) || error.code !== 'busy') throw error;
      });
      if (next?.rows !== undefined) yield next.rows;
      if (next !== undefined) cursor = next.cursor;
      if (next?.rows !== undefined) continue;
      if (!wait) return;
      await effects.sleep(pollMs, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      });
    }
  } finally {
    await close();
  }
}

/** The next rows after a cursor; `rows` is undefined if there are none yet. */
export async function nextRows(
  view: FeedView,
  followed: readonly FollowedTables[],
  from: Cursor,
  batchRows = BATCH_ROWS,
): Promise<{ readonly rows: ConsumedRows | undefined; readonly cursor: Cursor }> {
  let cursor = from;
  for (;;) {
    const {
      rows,
      read,
      cursor: next,
    } = await nextStep(view, followed, cursor, batchRows, (each) => readRows(view, each));
    cursor = next;
    if (rows === undefined || read === undefined) return { rows: undefined, cursor };
    const { pipeline, spans, replaces } = rows;
    // New blocks without rows concern no consumer.
    if (read.length === 0 && !replaces) continue;
    return { rows: { pipeline: pipeline.name, spans, replaces, batches: read, cursor: formatCursor(cursor) }, cursor };
  }
}

export interface ReadStep<T> {
  /** Undefined at the end. */
  readonly rows: NextRows | undefined;
  /** What was read of them. */
  readonly read: T | undefined;
  readonly cursor: Cursor;
}

/**
 * Reads the next rows. If the row counts of a part of a merged entry differ from the ledger, it reads the whole entry.
 *
 * @param read returns undefined if the row counts differ from the ledger
 * @throws {UsageError} `foreign-cursor`
 */
export async function nextStep<T>(
  view: FeedView,
  followed: readonly FollowedTables[],
  cursor: Cursor,
  batchRows: number,
  read: (rows: NextRows) => Promise<T | undefined>,
): Promise<ReadStep<T>> {
  const state: LedgerState = {
    log: await readLog(view, cursor),
    ledger: await view.ledger(),
    followed,
    batchRows,
  };
  for (const isWhole of [false, true]) {
    let step = planNext(state, cursor, isWhole);
    if (!isWhole && step.rows?.isMixed === true) step = planNext({ ...state, log: await view.log(0) }, cursor);
    const { rows, cursor: next } = step;
    if (rows === undefined) return { rows, read: undefined, cursor: next };
    const found = await read(rows);
    if (found !== undefined) return { rows, read: found, cursor: next };
  }
  throw new Error('expected the rows of an entry, got others');
}

/** The log from the entry at the start of a cursor. @throws {UsageError} `foreign-cursor` */
export async function readLog(view: FeedView, cursor: Cursor, most?: number): Promise<readonly LedgerEntry[]> {
  const log = await view.log(Math.max(0, cursor.since - 1), most);
  if (view.network !== cursor.network) throw foreignCursor(` of ${cursor.network}`);
  requireSameLedger(log, { number: cursor.since, id: cursor.id });
  return log;
}

function requireSameTables(cursor: Cursor, tables: readonly string[]): void {
  const [expected, got] = [cursor.tables.join(', '), [...tables].sort().join(', ')];
  if (expected === got) return;
  throw usage(`the tables of the cursor, ${expected}`, got, 'follow other tables with a cursor of their own');
}
