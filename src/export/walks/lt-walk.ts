import PQueue from 'p-queue';
import { TonlakeError } from '../../core/errors.ts';
import { type Span, spanSize } from '../../core/span.ts';
import type { LtWalk } from '../../declare/pipeline.ts';
import type { SourceRequest } from '../../http/request.ts';
import { commitList, Pages, quarantineSpan, type RefusedRow } from '../list-pages.ts';
import { faultError, ListProof } from '../list-proof.ts';
import { cutAtFinal, type Due, type ListContext, widenedContext } from '../list-run.ts';
import { halve, type LtWindow, planEvenWindows } from '../lt-windows.ts';
import { fixedQuery, PAGE_ROWS } from '../page-request.ts';
import { freshRows } from '../refetch-items.ts';
import { Horizon } from '../safe-horizon.ts';
import { splitOfTies } from '../split-ties.ts';

/** Masterchain blocks of the first span, which tells how dense the rows are. */
export const LIST_PROBE_BLOCKS = 20;
export const LIST_SPAN_BLOCKS = 5_000;
/** Rows that a span is planned for. */
export const LIST_SPAN_ROWS = 15_000;
/** Rows that a window is planned for: enough below a full page that few must be halved. */
export const LIST_WINDOW_ROWS = 700;

/** Rows seen so far, for planning. */
interface Density {
  rows: number;
  blocks: number;
}

/** Brings spans in by windows of logical time. A full window is halved, never paged. */
export async function walkLt(context: ListContext, walk: LtWalk, { missing, again }: Due): Promise<void> {
  const { ends, stop, requestsPerSpan } = context;
  const density: Density = { rows: 0, blocks: 0 };
  const work: Work = { context, walk, horizon: new Horizon(context), density, proof: new ListProof(context) };
  for (const entry of again) {
    if (stop.aborted) return;
    await readSpan({ ...work, context: widenedContext(context, entry) }, entry.span, [entry.id]);
  }
  for (const whole of work.proof.cut(cutAtFinal(missing, walk.lookBack, ends.last))) {
    let from = whole.from;
    while (from <= whole.to && !stop.aborted) {
      const size = Math.min(sizeOf(density), Math.max(1, requestsPerSpan * 2));
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      await readSpan(work, span, []);
      from = span.to + 1;
    }
  }
}

function sizeOf({ rows, blocks }: Density): number {
  if (blocks === 0) return LIST_PROBE_BLOCKS;
  return Math.min(LIST_SPAN_BLOCKS, Math.max(1, Math.floor((LIST_SPAN_ROWS * blocks) / Math.max(rows, 1))));
}

interface Work {
  readonly context: ListContext;
  readonly walk: LtWalk;
  readonly horizon: Horizon;
  readonly density: Density;
  readonly proof: ListProof;
}

/** Reads and commits a span; around what cannot be read it is cut. */
async function readSpan(work: Work, span: Span, supersedes: readonly string[]): Promise<void> {
  const { context, density } = work;
  try {
    const range = await work.horizon.rangeOf(span.from, span.to);
    const { pages, refused } = await readSpanWindows(work, span, range);
    if (context.stop.aborted) return;
    if (refused.length === 0) {
      density.rows += pages.decoder.records;
      density.blocks += spanSize(span);
      await commitSpan(work, span, range, pages, supersedes);
      return;
    }
    // What takes the place of an entry covers it as a whole.
    if (supersedes.length > 0) return;
    if (spanSize(span) === 1) return quarantineSpan(context, span, refused);
  } catch (error) {
    if (!isLocal(error)) throw error;
    if (spanSize(span) === 1 || supersedes.length > 0) return tell(context, span, error);
  }
  const middle = Math.floor((span.from + span.to) / 2);
  await readSpan(work, { from: span.from, to: middle }, []);
  await readSpan(work, { from: middle + 1, to: span.to }, []);
}

interface SpanRows {
  readonly pages: Pages;
  readonly refused: readonly RefusedRow[];
}

async function readSpanWindows({ context, walk, density }: Work, span: Span, range: LtWindow): Promise<SpanRows> {
  const pages = new Pages(context);
  const expected = density.blocks === 0 ? 0 : (density.rows * spanSize(span)) / density.blocks;
  const windows = range.from > range.to ? [] : planEvenWindows(range, expected, LIST_WINDOW_ROWS);
  return { pages, refused: await readWindows(context, walk, pages, span, windows) };
}

/** Reads windows to their end. @returns records that could not be decoded */
async function readWindows(
  context: ListContext,
  walk: LtWalk,
  pages: Pages,
  span: Span,
  windows: readonly LtWindow[],
): Promise<readonly RefusedRow[]> {
  const { pipeline, source, report, concurrency, stop } = context;
  const refused: RefusedRow[] = [];
  const queue = new PQueue({ concurrency });
  let fatal: { readonly error: unknown } | undefined;
  const read = async (window: LtWindow, more: readonly (readonly [string, string])[] = []): Promise<void> => {
    if (fatal !== undefined || stop.aborted) return;
    try {
      const isWhole = more.length > 0;
      const page = await source.fetch(windowAsk(context, window, more), ({ body, request }) =>
        pages.add(body, request, {}, isWhole ? undefined : PAGE_ROWS),
      );
      refused.push(...page.refused);
      report({ event: 'progress', pipeline: pipeline.name, seqnos: 0, records: page.to - page.from });
      if (isWhole || page.records < PAGE_ROWS) return;
      const halves = halve(window);
      for (const half of halves ?? []) void queue.add(() => read(half));
      if (halves !== undefined) return;
      for (const part of await splitOfTies(context, walk.ties, span, window.from)) {
        void queue.add(() => read(window, part));
      }
    } catch (error) {
      fatal ??= { error };
    }
  };
  report({ event: 'planned', pipeline: pipeline.name, requests: windows.length });
  for (const window of windows) void queue.add(() => read(window));
  await queue.onIdle();
  if (fatal !== undefined) throw fatal.error;
  return refused;
}

function windowAsk(
  { pipeline }: ListContext,
  { from, to }: LtWindow,
  more: readonly (readonly [string, string])[],
): SourceRequest {
  return {
    path: pipeline.endpoint.replace(/^GET /, ''),
    query: [
      ...[['start_lt', String(from)] as const, ['end_lt', String(to)] as const, ['limit', String(PAGE_ROWS)] as const],
      ...more,
      ...fixedQuery(pipeline),
    ],
    label: `${pipeline.name} lt ${from}:${to}`,
  };
}

async function commitSpan(
  work: Work,
  span: Span,
  range: LtWindow,
  pages: Pages,
  supersedes: readonly string[],
): Promise<void> {
  const { context, walk, proof } = work;
  const { pipeline, ends } = context;
  pages.requireDistinct(pages.all(), span);
  const rows = await withEdge(work, span, range, pages);
  const { stage, staged, faults, isCompared } = await proof.settle(pages, span, rows, range);
  try {
    if (faults.length > 0) throw faultError(pipeline.name, span, faults);
    const asOf = walk.lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
    await commitList(context, staged, { span, asOf, supersedes, proof: isCompared ? 'transactions' : 'none' });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** Rows before everything that transactions tell of are read twice, the second time by windows that are cut otherwise. */
async function withEdge(
  { context, walk, proof }: Work,
  span: Span,
  range: LtWindow,
  pages: Pages,
): Promise<Int32Array> {
  const rows = pages.all();
  const edge = await proof.edgeOf(span, range);
  if (edge === undefined) return rows;
  const from = pages.decoder.records;
  await readWindows(context, walk, pages, span, halve(edge) ?? [edge]);
  return Int32Array.from([...rows, ...freshRows(context, pages, rows, { from, to: pages.decoder.records }, span)]);
}

function tell({ report, pipeline }: ListContext, { from, to }: Span, { code, message }: TonlakeError): void {
  report({ event: 'problem', pipeline: pipeline.name, from, to, code, message });
}

/** A fault of single blocks, not of the source as a whole. */
function isLocal(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return ['not-indexed', 'no-horizon', 'double-key', 'unproven'].includes(error.code);
}
