import { type Span, spanSize } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { LtWalk } from '../../declare/walk.ts';
import { closedGate } from '../gate.ts';
import { type ItemRequest, nextItems } from '../item-requests.ts';
import { ListProof } from '../list-proof.ts';
import { halve, type LtWindow, planEvenWindows, widthOf } from '../lt-windows.ts';
import { PAGE_ROWS, requestOfWindow } from '../page-request.ts';
import { horizonRanges } from '../safe-horizon.ts';
import { cutAtFinal } from '../span-cuts.ts';
import type { PageReport } from '../span-loader.ts';
import type { Round, SpanWalk } from '../span-walk.ts';
import { splitOfTies } from '../split-ties.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Masterchain blocks of the first span, which shows how dense the rows are. */
const LIST_PROBE_BLOCKS = 20;
const LIST_SPAN_BLOCKS = 5_000;
/** Planned rows of a span. */
export const LIST_SPAN_ROWS = 15_000;
/** Planned rows of a window: far enough below a full page that few are halved. */
export const LIST_WINDOW_ROWS = 700;

/** A window, or a part of the rows of a single logical time. */
interface WindowRequest extends WalkRequest {
  readonly window: LtWindow;
}

type Context = WalkContext<PipelineOf<LtWalk>>;

/** Spans of blocks, each covered by windows of logical time. */
export const ltWalk: WalkKind<LtWalk> = {
  plan: planLt,
  walkSpan: (context, span) => ltSpan(openWork(context), span),
};

/** What the spans of a walk share. */
interface Work {
  readonly context: Context;
  readonly rangeOf: (span: Span) => Promise<LtWindow>;
  readonly proof: ListProof;
  /** Rows so far, for planning. */
  readonly density: { rows: number; blocks: number };
}

/** The first span is small, and shows how large the others may be. */
async function* planLt(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const work = openWork(context);
  for (const whole of work.proof.cut(cutAtFinal(missing, context.pipeline.walk.lookBack, context.ends.last))) {
    let from = whole.from;
    while (from <= whole.to && !context.stop.aborted) {
      const size = Math.min(sizeOf(work.density), Math.max(1, context.requestsPerSpan * 2));
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      const isFirst = work.density.blocks === 0;
      const gate = closedGate(context.stop);
      yield () => ltSpan(work, span, gate.open);
      if (isFirst) await gate.opened;
      from = span.to + 1;
    }
  }
}

function openWork(context: Context): Work {
  return {
    ...{ context, rangeOf: horizonRanges(context) },
    ...{ proof: new ListProof(context), density: { rows: 0, blocks: 0 } },
  };
}

function sizeOf({ rows, blocks }: Work['density']): number {
  if (blocks === 0) return LIST_PROBE_BLOCKS;
  return Math.min(LIST_SPAN_BLOCKS, Math.max(1, Math.floor((LIST_SPAN_ROWS * blocks) / Math.max(rows, 1))));
}

function ltSpan(work: Work, span: Span, onEnd: () => void = () => undefined): SpanWalk<WindowRequest | ItemRequest> {
  const { context, density, proof } = work;
  const { ends, pipeline } = context;
  const isCompared = proof.isComparable(span);
  const asOf = pipeline.walk.lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
  let range: LtWindow = { from: 0n, to: -1n };
  let rows = 0;
  return {
    ...{ span, onEnd },
    rows: { block: undefined, audit: { kind: 'keys' } },
    async *plan() {
      range = await work.rangeOf(span);
      const expected = density.blocks === 0 ? 0 : (density.rows * spanSize(span)) / density.blocks;
      yield roundOf(context, range.from > range.to ? [] : planEvenWindows(range, expected, LIST_WINDOW_ROWS), false);
      const edge = await proof.edgeOf(span, range);
      // Rows that no transaction proves are read twice, the second time by other windows.
      if (edge !== undefined) yield roundOf(context, halve(edge) ?? [edge], true);
    },
    next(request, page) {
      if ('items' in request) return nextItems(context, request, page);
      rows += page.added;
      return remainder(work, span, request, page);
    },
    halve(request) {
      // Smaller windows show no more than the span itself, which is read again in halves.
      const isWide = !('items' in request) && widthOf(request.window) > widthOf(range) / spanSize(span);
      const halves = isWide ? halve(request.window) : undefined;
      return (halves ?? []).map((half) => windowRequest(context, half, request.page.isSupplement === true));
    },
    ...(isCompared ? { compare: (found) => proof.compareSpan(found, span, range) } : {}),
    entry(part) {
      density.rows += rows;
      density.blocks += spanSize(part);
      return { span: part, asOf, proof: isCompared ? 'transactions' : 'none' };
    },
    part: ([half = span]) => ltSpan(work, half),
  };
}

function roundOf(context: Context, windows: readonly LtWindow[], isSupplement: boolean): Round<WindowRequest> {
  const requests = windows.map((window) => windowRequest(context, window, isSupplement));
  return { requests, count: requests.length };
}

/** A full window is halved, never paged; one of a single logical time is split by accounts. */
async function remainder(
  { context }: Work,
  span: Span,
  { window, page: rules }: WindowRequest,
  page: PageReport,
): Promise<readonly WindowRequest[]> {
  if (page.isTaken) return [];
  const isSupplement = rules.isSupplement === true;
  const halves = halve(window);
  if (halves !== undefined) return halves.map((half) => windowRequest(context, half, isSupplement));
  const parts = await splitOfTies(context, context.pipeline.walk.ties, span, window.from);
  return parts.map((part) => windowRequest(context, window, isSupplement, part));
}

/** @param part parameters that select less than a page of the window */
function windowRequest(
  { pipeline }: Context,
  window: LtWindow,
  isSupplement: boolean,
  part: readonly (readonly [string, string])[] = [],
): WindowRequest {
  return {
    window,
    http: requestOfWindow(pipeline, window, PAGE_ROWS, part),
    page: {
      ...{ given: {}, isSupplement, only: [{ kind: 'within', column: pipeline.walk.column, ...window }] },
      ...(part.length > 0 ? {} : { full: PAGE_ROWS, overflow: 'refuse' }),
    },
  };
}
