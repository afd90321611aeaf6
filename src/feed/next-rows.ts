import {
  firstBlocks,
  haveCommon,
  intersectSpans,
  type Span,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { spanCondition } from '../sql/span-condition.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { Cursor } from './cursor.ts';
import type { FollowedTables } from './followed-tables.ts';
import { byLogicalTime, newestEntries, type RowLimits } from './logical-times.ts';

export interface LedgerState {
  /** Entries from `since` of the cursor; or all, to separate the rows of older merged entries. */
  readonly log: readonly LedgerEntry[];
  /** Entries in force. */
  readonly ledger: readonly LedgerEntry[];
  /** In the order of delivery for the same blocks. */
  readonly followed: readonly FollowedTables[];
  /** Approximate number of rows per step. */
  readonly batchRows: number;
}

/** The rows to deliver next. */
export interface NextRows extends FollowedTables {
  readonly spans: readonly Span[];
  /** True if rows of these blocks were delivered before. */
  readonly replaces: boolean;
  /** Entries in force with the rows. */
  readonly entries: readonly LedgerEntry[];
  /** Subset of the rows; undefined for all. */
  readonly limits: RowLimits | undefined;
  /** True if the entry also has rows of other steps, and its bounds do not separate them. */
  readonly isMixed: boolean;
}

export interface Step {
  /** Undefined if everything was delivered. */
  readonly rows: NextRows | undefined;
  /** Position after the rows. */
  readonly cursor: Cursor;
}

/**
 * Plans the next rows of a consumer.
 *
 * Each entry of the log with new rows adds its blocks to `rest`. The rows of these blocks are read from the entries in force, so merges in
 * the meantime do not matter. Blocks that a later entry reads again are left to that entry.
 *
 * @param isWhole true to read merged entries of lists as a whole. Default false: by the logical times of the original entries in the log
 */
export function planNext(state: LedgerState, cursor: Cursor, isWhole = false): Step {
  let at = cursor;
  for (;;) {
    for (const own of state.followed) {
      const step = nextOf(state, at, own, isWhole);
      if (step.rows !== undefined) return step;
      at = step.cursor;
    }
    const next = nextEntries(state, at);
    if (next === undefined) return { rows: undefined, cursor: at };
    at = next;
  }
}

/** True if an entry has rows that are new to the warehouse and accepted: no merge, mart, partial or void entry. */
function isSource(entry: LedgerEntry): boolean {
  const { id, verdict, scope, mart, copies, supersedes } = entry;
  return verdict === 'accepted' && scope === undefined && !mart && copies === undefined && !supersedes.includes(id);
}

/** Adds the blocks of the next entries to `rest`. @returns undefined if there are none */
function nextEntries({ log, followed, batchRows }: LedgerState, cursor: Cursor): Cursor | undefined {
  const fresh = log.filter((entry) => entry.number > cursor.number);
  const rest = new Map<string, Span[]>();
  let { number } = cursor;
  let rows = 0;
  for (const entry of fresh) {
    const own = followed.find(({ pipeline }) => pipeline.name === entry.pipeline);
    if (own !== undefined && isSource(entry)) {
      if (rows >= batchRows) break;
      rows += countRows(entry, own.tables);
      rest.set(entry.pipeline, [...(rest.get(entry.pipeline) ?? []), ...spansOf(entry)]);
    }
    number = entry.number;
  }
  if (number === cursor.number) return undefined;
  const before = log.find((entry) => entry.number === cursor.number);
  return {
    ...cursor,
    number,
    since: cursor.number,
    id: before?.id ?? null,
    rest: Object.fromEntries([...rest].map(([name, spans]) => [name, unionSpans(spans)])),
  };
}

function countRows({ tables }: LedgerEntry, wanted: readonly TableDef[]): number {
  return wanted.reduce((sum, { name }) => sum + (tables[name]?.rows ?? 0), 0);
}

/** The next rows of one pipeline. */
function nextOf(state: LedgerState, cursor: Cursor, own: FollowedTables, isWhole: boolean): Step {
  const { name } = own.pipeline;
  const { [name]: rest = [], ...others } = cursor.rest;
  const { [name]: seen = [] } = cursor.delivered;
  const sources = state.log.filter((entry) => entry.pipeline === name && isSource(entry));
  const later = sources.filter(({ number }) => number > cursor.number).flatMap(spansOf);
  const due = subtractSpans(rest, later);
  const inForce = state.ledger.filter(
    ({ pipeline, verdict, scope, spans, span }) =>
      pipeline === name && verdict === 'accepted' && scope === undefined && haveCommon(spansOf({ span, spans }), due),
  );
  const available = intersectSpans(due, unionSpans(inForce.flatMap(spansOf)));
  if (available.length === 0) return { rows: undefined, cursor: { ...cursor, rest: others } };
  // Blocks that are new and blocks that are read again are not mixed.
  const fresh = subtractSpans(available, seen);
  const wanted: Wanted = fresh.length > 0 ? [fresh, available] : [available];
  const read = own.tables.every((table) => blockColumn(own.pipeline, table) !== undefined)
    ? byBlocks(own, inForce, firstBlocks(wanted[0], blocksOf(state.batchRows, inForce, own)))
    : byEntry(own, inForce, wanted, { sources: isWhole ? [] : sources, batchRows: state.batchRows });
  const left = subtractSpans(available, read.spans);
  return {
    rows: { ...own, ...read, replaces: haveCommon(seen, read.spans) },
    cursor: {
      ...cursor,
      rest: left.length === 0 ? others : { ...others, [name]: left },
      delivered: { ...cursor.delivered, [name]: unionSpans([...seen, ...read.spans]) },
    },
  };
}

/** Blocks to read, and alternatives if the rows of the first ones cannot be separated from others. */
type Wanted = readonly [readonly Span[], ...(readonly Span[])[]];

type Reading = Pick<NextRows, 'spans' | 'entries' | 'limits' | 'isMixed'>;

/** Estimated number of blocks with `batchRows` rows; at least one. */
function blocksOf(batchRows: number, inForce: readonly LedgerEntry[], { tables }: FollowedTables): number {
  const rows = inForce.reduce((sum, entry) => sum + countRows(entry, tables), 0);
  const blocks = totalSize(inForce.flatMap(spansOf));
  return Math.max(1, Math.floor((batchRows * blocks) / Math.max(1, rows)));
}

/** The rows of some blocks, by the block column. */
function byBlocks(
  { pipeline, tables }: FollowedTables,
  inForce: readonly LedgerEntry[],
  spans: readonly Span[],
): Reading {
  const entries = inForce.filter((entry) => haveCommon(spansOf(entry), spans));
  const isAll = subtractSpans(unionSpans(entries.flatMap(spansOf)), spans).length === 0;
  const conditions = tables.map((table): readonly [string, string] => {
    const column = blockColumn(pipeline, table) ?? '';
    return [table.name, spanCondition(quoteName(column), spans)];
  });
  return {
    spans,
    entries,
    limits: isAll ? undefined : { conditions: new Map(conditions), rows: undefined },
    isMixed: false,
  };
}

/**
 * The rows of the first entry in force with some of these blocks. A merged entry is read in steps of about `batchRows` rows, which the logical
 * times of the original entries separate.
 */
function byEntry(
  own: FollowedTables,
  inForce: readonly LedgerEntry[],
  wanted: Wanted,
  { sources, batchRows }: { readonly sources: readonly LedgerEntry[]; readonly batchRows: number },
): Reading {
  const [first] = inForce.filter((entry) => haveCommon(spansOf(entry), wanted[0]));
  if (first === undefined) throw new Error('expected an entry with these blocks, got none');
  const all = spansOf(first);
  for (const spans of wanted) {
    const part = firstRows(intersectSpans(all, spans), sources, own.tables, batchRows);
    const isPart = subtractSpans(all, part).length > 0;
    const limits = isPart ? byLogicalTime(own, part, sources) : undefined;
    if (!isPart || limits !== undefined) return { spans: part, entries: [first], limits, isMixed: false };
  }
  return { spans: all, entries: [first], limits: undefined, isMixed: true };
}

/** The blocks of the first entries that have about `batchRows` rows together; all blocks if the entries do not cover them. */
function firstRows(
  spans: readonly Span[],
  sources: readonly LedgerEntry[],
  tables: readonly TableDef[],
  batchRows: number,
): readonly Span[] {
  const chosen: Span[] = [];
  let rows = 0;
  for (const entry of newestEntries(sources)) {
    const own = intersectSpans(spansOf(entry), spans);
    if (own.length === 0) continue;
    if (rows >= batchRows) return unionSpans(chosen);
    rows += countRows(entry, tables);
    chosen.push(...own);
  }
  return spans;
}
