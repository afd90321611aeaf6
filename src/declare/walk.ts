import { suggest } from '../core/suggest.ts';

/** How a pipeline requests its rows. */
export type WalkDef = MasterchainWalk | BlockWalk | LtWalk | SnapshotWalk | LookupWalk | EphemeralWalk | CustomWalk;

/** Rows of masterchain blocks, proven against block headers. */
export interface MasterchainWalk {
  readonly kind: 'masterchain';
  /** Parameter that selects the rows of one masterchain block. */
  readonly seqno: string;
  readonly proof: Proof;
  /** Alternative requests for the same rows, by windows of logical time. */
  readonly windows: WindowsDef;
}

/** Rows of one masterchain block at a time. Waits for blocks that are not indexed yet. */
export interface BlockWalk {
  readonly kind: 'block';
  /** Parameter that selects one masterchain block. */
  readonly seqno: string;
  /** Column of the main table that must equal that block's seqno. */
  readonly column: string;
  /** Rows per page, for an endpoint with a total order; undefined if a response is always complete. */
  readonly limit: number | undefined;
  /** Blocks behind the head whose rows may still change, and are read again later. 0 for final rows. */
  readonly lookBack: number;
  /**
   * If `start_lt` and `end_lt` select rows by the logical time of their last transaction, which is in that block: blocks whose transactions
   * are in the warehouse are then requested together. Undefined if every block is requested by itself.
   */
  readonly windows: BlockWindowsDef | undefined;
}

export interface BlockWindowsDef {
  /** Rows per page. */
  readonly limit: number;
  /** Column of the main table with the logical time that a window selects rows by: a page with a row outside of its window is refused. */
  readonly column: string;
}

/** Rows of a range of logical time below the safe horizon, in windows that are halved instead of paged. */
export interface LtWalk {
  readonly kind: 'lt';
  /** Column of the main table with the logical time that a window selects rows by: a page with a row outside of its window is refused. */
  readonly column: string;
  readonly ties: TiesDef;
  /** As for `block`. */
  readonly lookBack: number;
}

/** What to do if a single logical time has more rows than a page. */
export type TiesDef =
  /** The order is total and these rows do not change, so page them. */
  | { readonly kind: 'total' }
  /** Request the accounts that received a message with this opcode at that time, in batches. */
  | { readonly kind: 'content'; readonly opcode: number; readonly parameter: string };

/** The current rows of a changing list. Each reading is stored with its time. */
export interface SnapshotWalk {
  readonly kind: 'snapshot';
  readonly limit: number;
  /** Maximum number of rows; undefined for all. */
  readonly most: number | undefined;
  /** One list for each parent; undefined for a single list. */
  readonly parents: ParentsDef | undefined;
  /** Column that increases when a row changes: of two copies of a row, the one with the higher value is written. */
  readonly newer: string | undefined;
}

/** How the parents of lists are found. */
export interface ParentsDef {
  readonly parameter: string;
  /** Column with the parent: a list with a row of another parent is refused, and requested again. */
  readonly column: string;
  /** Other parameters that select a list, for parents given by the user, and their columns: owners instead of jettons. */
  readonly others?: Readonly<Record<string, string>>;
  /** True if rows without a parent exist: then the list is also read without a filter. Default false. */
  readonly hasOrphans?: boolean;
  /** Query with one column; `$from` and `$to` are the range. */
  readonly query: string;
}

/** Rows for keys found in other tables. */
export interface LookupWalk {
  readonly kind: 'lookup';
  /** Parameters that form a key; the query has columns of these names. */
  readonly keys: readonly string[];
  /** Keys per request; more than one if the last parameter takes a list. */
  readonly batch: number;
  /** Rows per page, for paged responses; a full page is requested again in halves, and for a single key in pages. */
  readonly limit: number | undefined;
  /**
   * Query of the keys; `$from` and `$to` are the range. An optional column `seqno` is the last block that changed the key: an
   * existing reading that is newer is used.
   */
  readonly query: string;
  /** Columns of the query that are stored with the row but not sent. */
  readonly carried: readonly string[];
  /**
   * Columns of which one has the last of `keys`, or lists it: a response with a row of another key is refused, and requested again. Empty if
   * no column of a row shows its key.
   */
  readonly columns: readonly string[];
  /** Optional column of the query with texts, separated by spaces; a row must have one of them instead of the key. Without it, rows are not compared. */
  readonly match?: string;
  /** True if rows of other keys may come, too. Default false. */
  readonly hasOthers?: boolean;
  /**
   * True if every key that the source knows has a row, with several `columns` one for each: keys without are requested once more, and
   * counted. Default false.
   */
  readonly isEachListed?: boolean;
  /** Which of two rows with the same key in one response is written: the `last`, or with `none` the first. */
  readonly copies: 'last' | 'none';
}

/** Pending data without history, read by `tonlake follow --pending`. */
export interface EphemeralWalk {
  readonly kind: 'ephemeral';
  /** Parameter that selects an account. */
  readonly account: string;
  /** Parameter that selects an external message; undefined for none. */
  readonly message: string | undefined;
}

/** A walk with its own code, made by `defineWalk` in a file beside the pipeline: see docs/pipelines.md. */
export interface CustomWalk {
  readonly kind: 'custom';
  /** Name of the walk kind. */
  readonly name: string;
  /** JSON for the code of that kind. */
  readonly data: unknown;
  /** As for `block`. */
  readonly lookBack: number;
}

/** The code of a walk kind, as the registry sees it. */
export interface WalkCode {
  readonly defines: 'walk';
  readonly name: string;
}

/** An endpoint that lists rows between `start_lt` and `end_lt`, both inclusive. */
export interface WindowsDef {
  readonly path: string;
  /** Column of the main table with the logical time that a window selects rows by: a page with a row outside of its window is refused. */
  readonly column: string;
  /**
   * `total`: rows have a total order, so pages are found by `offset`.
   * `ties`: they do not, so a full window is halved.
   */
  readonly order: 'total' | 'ties';
}

/** How rows are proven complete: headers by their links, transactions by the `tx_count` of headers. */
export type Proof = 'links' | 'tx_count';

/** A walk over masterchain blocks: one by one, or in windows of logical time. */
export function masterchain(options: Omit<MasterchainWalk, 'kind'>): MasterchainWalk {
  return { kind: 'masterchain', ...options };
}

/** A walk over masterchain blocks, one by one, without proof by headers. */
export function block(
  options: Pick<BlockWalk, 'seqno' | 'column'> & Partial<Pick<BlockWalk, 'limit' | 'lookBack' | 'windows'>>,
): BlockWalk {
  return { kind: 'block', limit: undefined, lookBack: 0, windows: undefined, ...options };
}

/** A walk over windows of logical time below the safe horizon. */
export function ltWindows(options: Pick<LtWalk, 'column' | 'ties'> & Partial<Pick<LtWalk, 'lookBack'>>): LtWalk {
  return { kind: 'lt', lookBack: 0, ...options };
}

/** A walk over the current rows of a list. */
export function snapshot(options: Partial<Omit<SnapshotWalk, 'kind'>> = {}): SnapshotWalk {
  return { kind: 'snapshot', limit: 1000, most: undefined, parents: undefined, newer: undefined, ...options };
}

/** A walk over keys. */
export function lookup(
  options: Pick<LookupWalk, 'keys' | 'columns' | 'query'> &
    Partial<Omit<LookupWalk, 'kind' | 'keys' | 'columns' | 'query'>>,
): LookupWalk {
  return { kind: 'lookup', batch: 1, limit: undefined, carried: [], copies: 'none', ...options };
}

/** A walk of a kind that a file beside the pipeline defines. */
export function customWalk(
  name: string,
  options: { readonly data?: unknown; readonly lookBack?: number } = {},
): CustomWalk {
  return { kind: 'custom', name, data: {}, lookBack: 0, ...options };
}

/** A watch over accounts, and over external messages if the endpoint supports them. */
export function ephemeral(options: { readonly account: string; readonly message?: string }): EphemeralWalk {
  return { kind: 'ephemeral', message: undefined, ...options };
}

/** Columns of the main table that show whether a row was requested. */
export function requestedColumns(walk: WalkDef): readonly string[] {
  switch (walk.kind) {
    case 'lt':
      return [walk.column];
    case 'block':
      return walk.windows === undefined ? [walk.column] : [walk.column, walk.windows.column];
    case 'lookup':
      return walk.columns;
    case 'snapshot':
      return walk.parents === undefined ? [] : [walk.parents.column, ...Object.values(walk.parents.others ?? {})];
    case 'masterchain':
      return [walk.windows.column];
    case 'ephemeral':
    case 'custom':
      return [];
  }
}

/** The command that reads pending data, for the elector account, which every network has. */
export function followPending(): string {
  const pending = 'Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF';
  return `${suggest('follow', '', { pending })}; or any other account instead of that of the elections`;
}
