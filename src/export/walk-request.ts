import type { SourceRequest } from '../http/request.ts';
import type { FetchOptions } from '../http/source.ts';
import type { PageRules } from './load-rules.ts';
import type { PageReport } from './span-loader.ts';

/** The request of one page. */
export interface WalkRequest {
  readonly http: SourceRequest;
  readonly page: PageRules;
  readonly fetch?: FetchOptions | undefined;
  /** Requests that follow from the page. Default: those of the walk's `next`. */
  readonly after?: ((page: PageReport) => readonly WalkRequest[]) | undefined;
}
