import type { Header } from '../chain/headers.ts';
import type { Copies } from '../decode/row-keys.ts';

/** What a loader checks rows by. Links between headers are checked by `SpanLoaderPort.links`. */
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
