/** One end of a range as written. */
export type RangeEnd =
  | { readonly kind: 'seqno'; readonly seqno: number }
  | { readonly kind: 'back'; readonly count: number }
  | { readonly kind: 'ahead'; readonly count: number }
  | { readonly kind: 'date'; readonly date: string }
  /** A day, counted back from today when the range is resolved. */
  | { readonly kind: 'days-ago'; readonly days: number }
  /** Milliseconds since 1970. */
  | { readonly kind: 'time'; readonly ms: number }
  /** A duration before the other end. */
  | { readonly kind: 'last'; readonly hours: number }
  | { readonly kind: 'open' };

/** A part of a range as written. Both ends are inclusive, except for a time at the end. */
export interface RangePart {
  readonly text: string;
  readonly from: RangeEnd;
  readonly to: RangeEnd;
}

/** Resolves the ends of ranges; called only if needed. */
export interface ChainBounds {
  /** Last seqno of the index when first called. */
  readonly head: () => Promise<number>;
  /** Description of that block for hints. Default `the head`. */
  readonly headIs?: string;
  /** First masterchain block at or after the start of a UTC day. */
  readonly firstOfDay: (date: string) => Promise<number>;
  /** Last masterchain block that can have rows of a UTC day. */
  readonly lastOfDay: (date: string) => Promise<number>;
  /** First masterchain block at or after a time, in milliseconds since 1970. */
  readonly firstSince: (ms: number) => Promise<number>;
  /** Last masterchain block that can have rows from before a time. */
  readonly lastBefore: (ms: number) => Promise<number>;
  /** Time of a masterchain block, in milliseconds since 1970. */
  readonly blockTime: (seqno: number) => Promise<number>;
  /** Today's date. */
  readonly today: () => Promise<string>;
}
