import type { Lie } from './lie-kinds.ts';

/** A record with an invalid field. */
export interface BrokenRecord {
  /** Masterchain block. */
  readonly seqno: number;
  /** Position from 0, in the block's transactions by lt and account, or in its headers as listed. */
  readonly index: number;
  /** In a transaction: `lt` is not a number, `now` is a string, `overflow`: fees exceed 64 bits. In a header: `root_hash` is not a hash. */
  readonly kind: 'lt' | 'now' | 'overflow' | 'root_hash';
}

/** Records missing from a list, with status 200. */
interface Omission {
  /** Path of the list, such as `traces` or `jetton/transfers`. */
  readonly path: string;
  /** Share of missing records, from 0 to 1. */
  readonly rate: number;
  /** Whether the same records are missing from every response; otherwise they differ. */
  readonly lasting: boolean;
}

/** Faults that are a number or a switch, all off. Rates are from 0 to 1 per request; no URL fails more than twice in a row. */
const OFF = {
  /** 429 with the gateway's body. */
  http429: 0,
  /** Seconds in the `Retry-After` of a 429; 0 sends none. */
  retryAfter: 0,
  /** 500 with a timeout message; 422 on `/accountStates`, `/walletStates` and `/dns/records`. */
  http500Timeout: 0,
  /** 502 with an HTML page. */
  http502Html: 0,
  /** Share of responses that take `slowMs` longer. */
  slow: 0,
  slowMs: 30,
  /** The connection ends in the middle of the body. */
  cutBody: 0,
  /** The compressed body is damaged; only compressed responses. */
  brokenGzip: 0,
  /** 200 with JSON that ends too early, although the length of the body is correct. */
  truncatedJson: 0,
  /** The connection is closed without a response. */
  dropConnection: 0,
  /** A list of blocks with status 200 that is short or empty. */
  shortBlocks: 0,
  /** `masterchainInfo.last` is up to three blocks behind the head. */
  headLags: 0,
  /** Control characters in comments are not escaped. */
  rawControls: 0,
  /** Blocks, transactions and messages have undocumented fields. */
  extraField: 0,
  /** Compress for clients that accept gzip. */
  gzip: false,
  /** Share of all seqnos that are missing at first. */
  holeRate: 0,
  /** A hole closes after this many requests for it, or after `holeMs`. */
  holeAsks: 2,
  holeMs: 2000,
  /** Share of masterchain blocks that come late, with everything in them, while later ones are there. */
  lateBlocks: 0,
  /** Share of masterchain blocks whose headers are there, and everything else comes late. */
  lateRows: 0,
  /** Share of masterchain blocks of which one shard block's transactions come late, although its header is there. */
  lateShards: 0,
  /** How long after its block something late comes; only if the head grows. */
  lateMs: 3000,
  /** A list of more rows is a timeout, in every attempt; 0 for no limit. */
  heavyRows: 0,
};

/** What can go wrong. */
export interface Faults extends Readonly<typeof OFF> {
  /** Masterchain seqnos that are missing at first. */
  readonly holes: readonly number[];
  readonly broken: readonly BrokenRecord[];
  /** Lasting contradictions; see `LIES`. */
  readonly lies: readonly Lie[];
  readonly omits: readonly Omission[];
}

export const NO_FAULTS: Faults = { ...OFF, holes: [], broken: [], lies: [], omits: [] };

/** All faults that a client can recover from without losing or changing a row. */
export const ALL_FAULTS: Faults = {
  ...NO_FAULTS,
  http429: 0.03,
  http500Timeout: 0.03,
  http502Html: 0.02,
  slow: 0.02,
  cutBody: 0.02,
  brokenGzip: 0.02,
  truncatedJson: 0.02,
  dropConnection: 0.02,
  shortBlocks: 0.03,
  headLags: 0.2,
  rawControls: 1,
  gzip: true,
  holeRate: 0.01,
};
