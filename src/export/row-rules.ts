import type { HeldHeaders } from '../audit/shard-coverage.ts';
import type { Header } from '../chain/headers.ts';
import type { Copies } from '../decode/row-keys.ts';

/** What rows are held against where they are decoded. Headers are compared by their links from outside: see `SpanLoaderPort.links`. */
export type RowAudit =
  /** By the block headers: so many transactions in each block. */
  | { readonly kind: 'counts'; readonly headers: readonly Header[] }
  /** No key twice; states of the shards also by the headers that are known. */
  | { readonly kind: 'keys'; readonly states?: HeldHeaders | undefined }
  | { readonly kind: 'none' };

/** How the rows of a span tell their blocks, and what makes them sound. Plain data, for a worker thread. */
export interface RowRules {
  /** Column of the masterchain block that a row belongs to; undefined where rows do not tell it. */
  readonly block: string | undefined;
  readonly audit: RowAudit;
  /** Which of several rows with an equal key is written. Default: all are. */
  readonly copies?: Copies | undefined;
}
