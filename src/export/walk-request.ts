import type { Given } from '../decode/table-rows.ts';
import type { SourceRequest } from '../http/request.ts';
import type { FetchOptions } from '../http/source.ts';

/**
 * What to do with a full page. `keep`: its rows stay. `refuse`: all its rows are dropped, and requested in smaller parts. `divide`: as `refuse`, also for a page with a
 * record that cannot be decoded.
 */
export type Overflow = 'keep' | 'refuse' | 'divide';

/** The value that each row must have in a column: one of those that were requested. */
export interface RequestedOnly {
  readonly column: string;
  readonly values: readonly string[];
}

/**
 * The rule for rows of declared keys or parents, which are requested in the form of the index. It is undefined for those that the user gives,
 * which may have other forms than the rows, and without a column or values.
 */
export function onlyRequested(
  { from }: { readonly from?: string | undefined },
  column: string | undefined,
  values: readonly string[],
): RequestedOnly | undefined {
  return from !== undefined || column === undefined || values.length === 0 ? undefined : { column, values };
}

/** How a page is loaded. Plain data, for a worker thread. */
export interface PageRules {
  /** The only masterchain block, or batch of keys, in the page; undefined for a page with several. */
  readonly unit?: number | undefined;
  /** Values of the request for columns: for all records, or for each by its position. */
  readonly given?: Given | readonly Given[] | undefined;
  /** Each row must have one of these values in the column; they are not compared if it is left out. */
  readonly only?: RequestedOnly | undefined;
  /** Records of a full page. Default: no page is full. */
  readonly full?: number | undefined;
  /** Default `keep`. */
  readonly overflow?: Overflow | undefined;
  /** Keeps only rows of the span with new keys. Default false. */
  readonly isSupplement?: boolean | undefined;
}

/** The request of one page. */
export interface WalkRequest {
  readonly http: SourceRequest;
  readonly page: PageRules;
  readonly fetch?: FetchOptions | undefined;
}
