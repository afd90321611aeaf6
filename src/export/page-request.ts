import type { MasterchainPipeline, PipelineDef } from '../declare/pipeline.ts';
import type { Given } from '../decode/table-rows.ts';
import type { SourceRequest } from '../http/request.ts';
import type { PageRules } from './load-rules.ts';
import type { LtWindow } from './lt-windows.ts';
import type { WalkRequest } from './walk-request.ts';

/** Maximum rows of a page of the API. */
export const PAGE_ROWS = 1000;

/** A page of a window. */
export interface WindowRequest {
  readonly kind: 'window';
  readonly window: LtWindow;
  readonly offset: number;
  /** Rows from the offset on, by the headers; 0 if unknown. */
  readonly rows: number;
  /** True if no other page has the rows of the window after these. */
  readonly isLast: boolean;
}

/** A page of a window, or of a block. */
export type PageRequest = WindowRequest | { readonly kind: 'block'; readonly seqno: number; readonly offset: number };

/** The first page of a window with an unknown number of rows. */
export function wholeWindow(window: LtWindow): WindowRequest {
  return { kind: 'window', window, offset: 0, rows: 0, isLast: true };
}

/** Maximum rows in the answer. */
export function limitOf(page: PageRequest): number {
  return page.kind === 'window' && !page.isLast ? page.rows : PAGE_ROWS;
}

/** The request for a page. Waits for a block that is not indexed. */
export function requestOf(pipeline: MasterchainPipeline, page: PageRequest): SourceRequest {
  const { walk, name } = pipeline;
  const { offset } = page;
  const limit = limitOf(page);
  if (page.kind === 'window') {
    return { ...listRequest(pipeline, windowOf(pipeline, page.window, limit), offset), path: walk.windows.path };
  }
  const where = [[walk.seqno, String(page.seqno)]] as const;
  return { ...listRequest(pipeline, { where, limit, label: `${name} ${page.seqno}` }, offset), missing: 'wait' };
}

/** Names and values of parameters. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** Parameters that select the rows of a window of logical time. */
export function boundsOf({ from, to }: LtWindow): Parameters {
  return [
    ['start_lt', String(from)],
    ['end_lt', String(to)],
  ];
}

/** Which rows of an endpoint a request selects. */
export interface ListRequest {
  readonly where: Parameters;
  /** Rows of a full page; undefined for a list that always comes whole. */
  readonly limit: number | undefined;
  readonly label: string;
}

/** The rows of a window of logical time. @param part further parameters */
export function windowOf({ name }: Pick<PipelineDef, 'name'>, window: LtWindow, limit: number, part: Parameters = []) {
  return { where: [...boundsOf(window), ...part], limit, label: `${name} lt ${window.from}:${window.to}` };
}

/** The request for a page of a list. */
export function listRequest(
  pipeline: Pick<PipelineDef, 'endpoint' | 'parameters'>,
  { where, limit, label }: ListRequest,
  offset = 0,
): SourceRequest {
  const page: Parameters = limit === undefined ? [] : [['limit', String(limit)]];
  const skip: Parameters = offset === 0 ? [] : [['offset', String(offset)]];
  return { path: pathOf(pipeline), query: [...where, ...page, ...skip, ...fixedQuery(pipeline)], label };
}

/** A list that is read page by page to its end. */
export interface PagedList extends ListRequest {
  readonly limit: number;
  /** Unique within the span. */
  readonly list: string | number;
  readonly page: PageRules;
  readonly missing?: SourceRequest['missing'];
}

/** A page of a list. The next one follows if it is full. */
export function pageOf(pipeline: PipelineDef, list: PagedList, offset = 0): WalkRequest {
  const { limit, missing, page } = list;
  return {
    http: { ...listRequest(pipeline, list, offset), missing },
    page: { ...page, list: { list: list.list, isContinued: offset > 0 } },
    after: ({ records }) => (records < limit ? [] : [pageOf(pipeline, list, offset + limit)]),
  };
}

/** The path of a pipeline's endpoint. */
export function pathOf({ endpoint }: Pick<PipelineDef, 'endpoint'>): string {
  return endpoint.replace(/^[A-Z]+ /, '');
}

/** Parameters of every request of a pipeline. */
export function fixedQuery({ parameters }: Pick<PipelineDef, 'parameters'>): Parameters {
  return Object.entries(parameters).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
  );
}

/** The fixed parameters as values for the decoder. */
export function fixedGiven({ parameters }: PipelineDef): Given {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** The pages of a masterchain block with `rows` rows; the last page is not full. */
export function pagesOfBlock(seqno: number, rows: number): readonly PageRequest[] {
  const count = Math.floor(rows / PAGE_ROWS) + 1;
  return Array.from({ length: count }, (_, at) => ({ kind: 'block', seqno, offset: at * PAGE_ROWS }));
}
