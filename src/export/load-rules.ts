import type { ListPage, RequestedRows } from '../audit/page-audit.ts';
import type { Header } from '../chain/headers.ts';
import type { Copies } from '../decode/row-keys.ts';
import type { Given } from '../decode/table-rows.ts';

/** How a loader checks rows. `SpanLoaderPort.links` checks the links between headers. */
export type RowAudit =
  /** The number of transactions in each block, by its header. */
  | { readonly kind: 'counts'; readonly headers: readonly Header[] }
  /** Keys are unique. */
  | { readonly kind: 'keys' }
  | { readonly kind: 'none' };

/** How the rows of a span are assigned to blocks, and checked. Plain data, for a worker thread. */
export interface RowRules {
  /** Column with the masterchain block of a row; undefined if there is none. */
  readonly block: string | undefined;
  readonly audit: RowAudit;
  /** Which of several rows with one key to write. Default: all. */
  readonly copies?: Copies | undefined;
}

/**
 * Treatment of a full page. `keep`: its rows stay. `refuse`: all its rows are dropped, and requested in smaller parts. `divide`: as
 * `refuse`, also for a page with a record that cannot be decoded.
 */
export type Overflow = 'keep' | 'refuse' | 'divide';

/** How a page is loaded. Plain data, for a worker thread. */
export interface PageRules {
  /** The only masterchain block, or batch of keys, in the page; undefined for a page with several. */
  readonly unit?: number | undefined;
  /** Values of the request for columns: for all records, or for each by its position. */
  readonly given?: Given | readonly Given[] | undefined;
  /** The rows that the request selects: a page with another row is refused, and requested again. Default: not compared. */
  readonly only?: readonly RequestedRows[] | undefined;
  /** The list that the page is a part of, if there may be more pages: one that repeats another is refused. */
  readonly list?: ListPage | undefined;
  /** Records of a full page. Default: no page is full. */
  readonly full?: number | undefined;
  /** Default `keep`. */
  readonly overflow?: Overflow | undefined;
  /** Keeps only rows of the span with new keys. Default false. */
  readonly isSupplement?: boolean | undefined;
}
