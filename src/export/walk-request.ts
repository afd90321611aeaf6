import type { Given } from '../decode/table-rows.ts';
import type { SourceRequest } from '../http/request.ts';
import type { FetchOptions } from '../http/source.ts';

/**
 * What becomes of a full page. `keep`: its rows stay, and the next page follows. `cut`: the rows at its last logical time go, because
 * they come again with the rest of the window. `refuse`: all its rows go, because they are asked for in smaller parts. `divide`: as
 * `refuse`, and so is a page with a record that cannot be decoded.
 */
export type Overflow = 'keep' | 'cut' | 'refuse' | 'divide';

/** How a page is loaded. Plain data, for a worker thread. */
export interface PageRules {
  /** Masterchain block, or lot of keys, whose rows the page brings; undefined where it brings rows of many. */
  readonly unit?: number | undefined;
  /** What the decoder is told of the request: for all records, or for each by its position. */
  readonly given?: Given | readonly Given[] | undefined;
  /** Records of a full page. Default: no page is full. */
  readonly full?: number | undefined;
  /** Default `keep`. */
  readonly overflow?: Overflow | undefined;
  /** Takes only rows of the span whose keys are not there yet. Default false. */
  readonly isSupplement?: boolean | undefined;
}

/** One page that a walk asks for. */
export interface WalkRequest {
  readonly ask: SourceRequest;
  readonly page: PageRules;
  readonly fetch?: FetchOptions | undefined;
}
