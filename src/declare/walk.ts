/** The order of requests of a pipeline. */
export type WalkDef = MasterchainWalk | BlockWalk | LtWalk | SnapshotWalk | LookupWalk | EphemeralWalk | CustomWalk;

/** The rows of masterchain blocks, proven against their headers. */
export interface MasterchainWalk {
  readonly kind: 'masterchain';
  /** Name of the parameter that asks for the rows of one masterchain block. */
  readonly seqno: string;
  readonly proof: Proof;
  /** Another way to the same rows: by windows of logical time. */
  readonly windows: WindowsDef;
}

/** The rows of each masterchain block by itself. A block that is not indexed is waited for. */
export interface BlockWalk {
  readonly kind: 'block';
  /** Name of the parameter that asks for one masterchain block. */
  readonly seqno: string;
  /** Column of the first table that must hold that block's seqno. */
  readonly column: string;
  /** Rows of a page, of an endpoint with a total order; undefined for one whose answer has everything. */
  readonly limit: number | undefined;
  /** Blocks behind the head whose rows may still change: they are read again later. 0 for rows that are final. */
  readonly lookBack: number;
}

/** Rows of a range of logical time below the safe horizon, by windows that are halved instead of paged. */
export interface LtWalk {
  readonly kind: 'lt';
  readonly ties: TiesDef;
  /** As for `block`. */
  readonly lookBack: number;
}

/** What is done where a single logical time has more rows than a page. */
export type TiesDef =
  /** The order is total, so that these rows, which do not change, can be paged. */
  | { readonly kind: 'total' }
  /** The accounts that got a message with this opcode at that time are asked for, in batches. */
  | { readonly kind: 'content'; readonly opcode: number; readonly parameter: string };

/** All rows of a list that changes, as they are now. Each reading is stored with its time. */
export interface SnapshotWalk {
  readonly kind: 'snapshot';
  readonly limit: number;
  /** Rows that are read at most; undefined for all. */
  readonly most: number | undefined;
  /** Lists are read for each parent; undefined for one list. */
  readonly parents: ParentsDef | undefined;
  /** Column that grows when a row changes: of two readings of a row the greater one is kept. */
  readonly newer: string | undefined;
}

/** Where the parents of lists are found. */
export interface ParentsDef {
  readonly parameter: string;
  /** Further parameters that lists can be asked by, with parents of one's own: owners instead of jettons. */
  readonly others?: readonly string[];
  /** Whether there are rows without a parent: the list is then read once more without a filter. Default false. */
  readonly hasOrphans?: boolean;
  /** Select with one column; `$from` and `$to` are the range. */
  readonly query: string;
}

/** Rows for keys that are found in tables. */
export interface LookupWalk {
  readonly kind: 'lookup';
  /** Parameters that make a key; a query of keys has columns of these names. */
  readonly keys: readonly string[];
  /** Keys of one request; more than one where the last parameter takes a list. */
  readonly batch: number;
  /** Rows of a page, for answers that are paged; a full one is asked for in halves, and for a single key in pages. */
  readonly limit: number | undefined;
  /**
   * Select of the keys; `$from` and `$to` are the range. A column `seqno`, the last block that changed what is looked up, tells
   * whether an older reading will do.
   */
  readonly query: string;
  /** Columns of the query that are stored with the row and not sent. */
  readonly carried: readonly string[];
  /** Which of two rows of one answer with an equal key is kept; by default they are no reason to choose. */
  readonly copies: 'last' | 'none';
}

/** What is not final yet: no history of it can be asked for, so it is watched as long as somebody wants it. */
export interface EphemeralWalk {
  readonly kind: 'ephemeral';
  /** Parameter that asks for what an account takes part in. */
  readonly account: string;
  /** Parameter that asks for what an external message began; undefined where there is none. */
  readonly message: string | undefined;
}

/** A walk whose code is a file of its own, which `defineWalk` makes: see docs/pipelines.md. */
export interface CustomWalk {
  readonly kind: 'custom';
  /** Name of the walk kind. */
  readonly name: string;
  /** JSON for the code of that kind. */
  readonly data: unknown;
  /** As for `block`. */
  readonly lookBack: number;
}

/** The code of a walk kind, as far as a registry knows it. */
export interface WalkCode {
  readonly defines: 'walk';
  readonly name: string;
}

/** An endpoint that lists rows between `start_lt` and `end_lt`, both inclusive. */
export interface WindowsDef {
  readonly path: string;
  /**
   * `total`: rows come in a total order of logical time, so a full page is whole up to its last logical time.
   * `ties`: they do not, so a full window is halved.
   */
  readonly order: 'total' | 'ties';
}

/** How the rows of a masterchain block are proven whole: headers by their links, transactions by the headers' `tx_count`. */
export type Proof = 'links' | 'tx_count';

/** A walk over masterchain blocks: each by itself, or many at once by windows of logical time. */
export function masterchain(options: Omit<MasterchainWalk, 'kind'>): MasterchainWalk {
  return { kind: 'masterchain', ...options };
}

/** A walk over masterchain blocks, each by itself and without headers. */
export function block(
  options: Pick<BlockWalk, 'seqno' | 'column'> & { readonly limit?: number; readonly lookBack?: number },
): BlockWalk {
  return { kind: 'block', limit: undefined, lookBack: 0, ...options };
}

/** A walk by windows of logical time, below the safe horizon. */
export function ltWindows(options: { readonly ties: TiesDef; readonly lookBack?: number }): LtWalk {
  return { kind: 'lt', lookBack: 0, ...options };
}

/** A walk over a list as it is now. */
export function snapshot(options: Partial<Omit<SnapshotWalk, 'kind'>> = {}): SnapshotWalk {
  return { kind: 'snapshot', limit: 1000, most: undefined, parents: undefined, newer: undefined, ...options };
}

/** A walk over keys. */
export function lookup(
  options: Pick<LookupWalk, 'keys' | 'query'> & Partial<Omit<LookupWalk, 'kind' | 'keys' | 'query'>>,
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

/** A watch over accounts, and over external messages where the endpoint takes them. */
export function ephemeral(options: { readonly account: string; readonly message?: string }): EphemeralWalk {
  return { kind: 'ephemeral', message: undefined, ...options };
}
