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

/** What the ledger says now. */
export interface LedgerState {
  /** Entries from `since` of the cursor on; or all, to tell the rows of older merged entries apart. */
  readonly log: readonly LedgerEntry[];
  /** Entries in force. */
  readonly ledger: readonly LedgerEntry[];
  /** In the order in which rows of the same blocks are handed out. */
  readonly followed: readonly FollowedTables[];
  /** About how many rows to hand out at once. */
  readonly mostRows: number;
}

/** The rows to hand out next. */
export interface NextRows extends FollowedTables {
  readonly spans: readonly Span[];
  /** True if rows of these blocks were handed out before. */
  readonly replaces: boolean;
  /** Entries in force with the rows. */
  readonly entries: readonly LedgerEntry[];
  /** Which rows of the entries; undefined for all. */
  readonly limits: RowLimits | undefined;
  /** True if the entry has rows that were handed out before, or will be again, which cannot be told from the others. */
  readonly isMixed: boolean;
}

export interface Step {
  /** Undefined if everything was handed out. */
  readonly rows: NextRows | undefined;
  /** Where to go on when the rows were handed out. */
  readonly cursor: Cursor;
}

/**
 * Plans the next rows of a consumer.
 *
 * Rows are told by their blocks: each entry of the log whose rows are new adds its blocks to `rest`, and the rows of these blocks are read
 * from whatever entry in force has them. So it does not matter how often entries were merged in the meantime. Blocks that a later entry
 * reads again are left to that one.
 *
 * @param isWhole reads merged entries of lists as a whole. Default false: by the logical times of their parts, as far as the log has them
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

/** True if the rows of an entry are new to the warehouse, and proven as far as they can be. */
function isSource(entry: LedgerEntry): boolean {
  const { id, verdict, scope, mart, copies, supersedes } = entry;
  return verdict === 'accepted' && scope === undefined && !mart && copies === undefined && !supersedes.includes(id);
}

/** Adds the blocks of the next entries to `rest`. @returns undefined if there are none */
function nextEntries({ log, followed, mostRows }: LedgerState, cursor: Cursor): Cursor | undefined {
  const fresh = log.filter((entry) => entry.number > cursor.number);
  const rest = new Map<string, Span[]>();
  let { number } = cursor;
  let rows = 0;
  for (const entry of fresh) {
    const own = followed.find(({ pipeline }) => pipeline.name === entry.pipeline);
    if (own !== undefined && isSource(entry)) {
      if (rows >= mostRows) break;
      rows += countRows(entry, own.tables);
      rest.set(entry.pipeline, [...(rest.get(entry.pipeline) ?? []), ...spansOf(entry)]);
    }
    number = entry.number;
  }
  if (number === cursor.number) return undefined;
  const before = log.find((entry) => entry.number === cursor.number);
  return {
    ...cursor,
    ...{ number, since: cursor.number, id: before?.id ?? null },
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
  const holders = state.ledger.filter(
    ({ pipeline, verdict, scope, spans, span }) =>
      pipeline === name && verdict === 'accepted' && scope === undefined && haveCommon(spansOf({ span, spans }), due),
  );
  const held = intersectSpans(due, unionSpans(holders.flatMap(spansOf)));
  if (held.length === 0) return { rows: undefined, cursor: { ...cursor, rest: others } };
  // Blocks that are new and blocks that are read again are not mixed.
  const fresh = subtractSpans(held, seen);
  const wanted: Wanted = fresh.length > 0 ? [fresh, held] : [held];
  const read = own.tables.every((table) => blockColumn(own.pipeline, table) !== undefined)
    ? byBlocks(own, holders, firstBlocks(wanted[0], blocksOf(state.mostRows, holders, own)))
    : byEntry(own, holders, wanted, { sources: isWhole ? [] : sources, mostRows: state.mostRows });
  const left = subtractSpans(held, read.spans);
  return {
    rows: { ...own, ...read, replaces: haveCommon(seen, read.spans) },
    cursor: {
      ...cursor,
      rest: left.length === 0 ? others : { ...others, [name]: left },
      delivered: { ...cursor.delivered, [name]: unionSpans([...seen, ...read.spans]) },
    },
  };
}

/** Blocks, and those to read instead where the rows of the first ones cannot be told from others. */
type Wanted = readonly [readonly Span[], ...(readonly Span[])[]];

type Reading = Pick<NextRows, 'spans' | 'entries' | 'limits' | 'isMixed'>;

/** How many blocks have about `mostRows` rows; at least one. */
function blocksOf(mostRows: number, holders: readonly LedgerEntry[], { tables }: FollowedTables): number {
  const rows = holders.reduce((sum, entry) => sum + countRows(entry, tables), 0);
  const blocks = totalSize(holders.flatMap(spansOf));
  return Math.max(1, Math.floor((mostRows * blocks) / Math.max(1, rows)));
}

/** The rows of some blocks, by the column with their block. */
function byBlocks(
  { pipeline, tables }: FollowedTables,
  holders: readonly LedgerEntry[],
  spans: readonly Span[],
): Reading {
  const entries = holders.filter((entry) => haveCommon(spansOf(entry), spans));
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
 * The rows of the first entry in force with some of these blocks. Those of a merged entry are told by their logical times, and are read by
 * about as many at once as the entries before it had.
 */
function byEntry(
  own: FollowedTables,
  holders: readonly LedgerEntry[],
  wanted: Wanted,
  { sources, mostRows }: { readonly sources: readonly LedgerEntry[]; readonly mostRows: number },
): Reading {
  const [holder] = holders.filter((entry) => haveCommon(spansOf(entry), wanted[0]));
  if (holder === undefined) throw new Error('expected an entry with these blocks, got none');
  const all = spansOf(holder);
  for (const spans of wanted) {
    const part = firstRows(intersectSpans(all, spans), sources, own.tables, mostRows);
    const isPart = subtractSpans(all, part).length > 0;
    const limits = isPart ? byLogicalTime(own, part, sources) : undefined;
    if (!isPart || limits !== undefined) return { spans: part, entries: [holder], limits, isMixed: false };
  }
  return { spans: all, entries: [holder], limits: undefined, isMixed: true };
}

/** The blocks of the first entries that have about `mostRows` rows together; all where the entries do not tell. */
function firstRows(
  spans: readonly Span[],
  sources: readonly LedgerEntry[],
  tables: readonly TableDef[],
  mostRows: number,
): readonly Span[] {
  const chosen: Span[] = [];
  let rows = 0;
  for (const entry of newestEntries(sources)) {
    const own = intersectSpans(spansOf(entry), spans);
    if (own.length === 0) continue;
    if (rows >= mostRows) return unionSpans(chosen);
    rows += countRows(entry, tables);
    chosen.push(...own);
  }
  return spans;
}
