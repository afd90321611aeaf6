import type { MasterchainPipeline, PipelineDef } from '../declare/pipeline.ts';
import type { Given } from '../decode/table-rows.ts';
import type { SourceRequest } from '../http/request.ts';
import type { LtWindow } from './lt-windows.ts';

/** Maximum rows of a page of the API. */
export const PAGE_ROWS = 1000;

/** A page of a window. */
export interface WindowRequest {
  readonly kind: 'window';
  readonly window: LtWindow;
  readonly offset: number;
  /** Rows that the headers promise from the offset on; 0 if they are not known. */
  readonly rows: number;
  /** True if no other page has the rows of the window after these. */
  readonly isLast: boolean;
}

/** A page of a window, or of a block. */
export type PageRequest = WindowRequest | { readonly kind: 'block'; readonly seqno: number; readonly offset: number };

/** The page of a window of which nothing else is known. */
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
  const offset: readonly (readonly [string, string])[] = page.offset === 0 ? [] : [['offset', String(page.offset)]];
  const rest = [['limit', String(limitOf(page))] as const, ...offset, ...fixedQuery(pipeline)];
  if (page.kind === 'window') {
    const { from, to } = page.window;
    return {
      path: walk.windows.path,
      query: [['start_lt', String(from)], ['end_lt', String(to)], ...rest],
      label: `${name} lt ${from}:${to}`,
    };
  }
  return {
    path: pathOf(pipeline),
    query: [[walk.seqno, String(page.seqno)], ...rest],
    missing: 'wait',
    label: `${name} ${page.seqno}`,
  };
}

/** The request for all rows of a window of logical time. @param part further conditions */
export function requestOfWindow(
  pipeline: PipelineDef,
  { from, to }: LtWindow,
  limit: number,
  part: readonly (readonly [name: string, value: string])[] = [],
): SourceRequest {
  const bounds = [['start_lt', String(from)] as const, ['end_lt', String(to)] as const];
  return {
    path: pathOf(pipeline),
    query: [...bounds, ['limit', String(limit)], ...part, ...fixedQuery(pipeline)],
    label: `${pipeline.name} lt ${from}:${to}`,
  };
}

/** The path of a pipeline's endpoint. */
export function pathOf({ endpoint }: Pick<PipelineDef, 'endpoint'>): string {
  return endpoint.replace(/^[A-Z]+ /, '');
}

/** Parameters of every request of a pipeline. */
export function fixedQuery({ parameters }: PipelineDef): readonly (readonly [name: string, value: string])[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
  );
}

/** The same for the decoder. */
export function fixedGiven({ parameters }: PipelineDef): Given {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** The pages of a masterchain block with so many rows; the last page is not full. */
export function pagesOfBlock(seqno: number, rows: number): readonly PageRequest[] {
  const count = Math.floor(rows / PAGE_ROWS) + 1;
  return Array.from({ length: count }, (_, at) => ({ kind: 'block', seqno, offset: at * PAGE_ROWS }));
}
