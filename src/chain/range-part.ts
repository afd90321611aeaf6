/** One end of a range as it was written. */
export type RangeEnd =
  | { readonly kind: 'seqno'; readonly seqno: number }
  | { readonly kind: 'back'; readonly count: number }
  | { readonly kind: 'ahead'; readonly count: number }
  | { readonly kind: 'date'; readonly date: string }
  /** A day, counted back from the one that it is when the range is resolved. */
  | { readonly kind: 'days-ago'; readonly days: number }
  /** Milliseconds since 1970. */
  | { readonly kind: 'time'; readonly ms: number }
  /** So long before the other end. */
  | { readonly kind: 'last'; readonly hours: number }
  | { readonly kind: 'open' };

/** A part of a range as it was written; both ends belong to it, but for a time at the end: rows are from before it. */
export interface RangePart {
  readonly text: string;
  readonly from: RangeEnd;
  readonly to: RangeEnd;
}

/** What a range needs to know of the chain; asked only for parts that need it. */
export interface ChainBounds {
  /** Greatest seqno of the index, as it was when first asked. */
  readonly head: () => Promise<number>;
  /** What that block is, for hints. Default `the head`. */
  readonly headIs?: string;
  /** First masterchain block at or after the start of a UTC day. */
  readonly firstOfDay: (date: string) => Promise<number>;
  /** Last masterchain block that can hold rows of a UTC day. */
  readonly lastOfDay: (date: string) => Promise<number>;
  /** First masterchain block at or after a time, in milliseconds since 1970. */
  readonly firstSince: (ms: number) => Promise<number>;
  /** Last masterchain block that can hold rows from before a time. */
  readonly lastBefore: (ms: number) => Promise<number>;
  /** When a masterchain block was made, in milliseconds since 1970. */
  readonly blockTime: (seqno: number) => Promise<number>;
  /** The day that it is. */
  readonly today: () => Promise<string>;
}
