import type { BadBlock } from '../../audit/reconcile.ts';
import { hullOf, type Span, spanSize, totalSize } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { LtWalk } from '../../declare/walk.ts';
import { readAsOf, splitAtFinality } from '../finality.ts';
import { ACCOUNTS, inBatches } from '../item-requests.ts';
import { newLatch } from '../latch.ts';
import { ListProof } from '../list-proof.ts';
import type { PageRules } from '../load-rules.ts';
import { halve, type LtWindow, planEvenWindows, widthOf } from '../lt-windows.ts';
import { listRequest, PAGE_ROWS, type Parameters, pageOf, windowOf } from '../page-request.ts';
import { horizonRange } from '../safe-horizon.ts';
import type { PageReport } from '../span-loader.ts';
import type { Round, SpanWalk } from '../span-walk.ts';
import { accountsOfTies } from '../split-ties.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Masterchain blocks of the first span, from which row density is estimated. */
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
  walkSpan: (context, span) => ltSpan(shareWork(context), [span]),
};

/** Shared by the spans of a walk. */
interface SharedWork {
  readonly context: Context;
  readonly proof: ListProof;
  /** Rows so far, for planning. */
  readonly density: { rows: number; blocks: number };
}

/** The first span is small, and determines the size of the others. Spans near each other are walked together. */
async function* planLt(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const work = shareWork(context);
  let rest = work.proof.cut(splitAtFinality(missing, context.pipeline.walk.lookBack, context.ends.last));
  while (rest.length > 0 && !context.stop.aborted) {
    const size = Math.min(sizeOf(work.density), Math.max(1, context.requestsPerSpan * 2));
    const near = nearSpans(rest, size);
    const isFirst = work.density.blocks === 0;
    const latch = newLatch(context.stop);
    yield () => ltSpan(work, near, latch.open);
    if (isFirst) await latch.opened;
    rest = clip(rest, { from: (near.at(-1) as Span).to + 1, to: Number.MAX_SAFE_INTEGER });
  }
}

/** The first of sorted spans, and those after it within `blocks`. Adjacent spans were cut on purpose and stay separate. */
function nearSpans(spans: readonly Span[], blocks: number): readonly Span[] {
  const from = (spans[0] as Span).from;
  const near = clip(spans, { from, to: from + blocks - 1 });
  const cut = near.findIndex((span, at) => span.from - 1 === near[at - 1]?.to);
  return cut < 0 ? near : near.slice(0, cut);
}

function clip(spans: readonly Span[], { from, to }: Span): readonly Span[] {
  return spans
    .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
    .filter((span) => span.from <= span.to);
}

function shareWork(context: Context): SharedWork {
  return { context, proof: new ListProof(context), density: { rows: 0, blocks: 0 } };
}

function sizeOf({ rows, blocks }: SharedWork['density']): number {
  if (blocks === 0) return LIST_PROBE_BLOCKS;
  return Math.min(LIST_SPAN_BLOCKS, Math.max(1, Math.floor((LIST_SPAN_ROWS * blocks) / Math.max(rows, 1))));
}

/** One of the spans that are walked together. */
interface Part {
  readonly span: Span;
  readonly range: LtWindow;
}

/** @param only sorted spans, whose rows are requested together if that takes fewer requests */
function ltSpan(
  work: SharedWork,
  only: readonly Span[],
  onEnd: () => void = () => undefined,
): SpanWalk<WindowRequest | WalkRequest> {
  const { context, density, proof } = work;
  const { ends, pipeline } = context;
  const asOf = readAsOf(pipeline.walk.lookBack, ends.last);
  const span = hullOf(only) as Span;
  const compared = only.filter((each) => proof.isComparable(each)).map(({ from }) => from);
  let parts: readonly Part[] = [];
  let range: LtWindow = { from: 0n, to: -1n };
  let rows = 0;
  let width = 0;
  const partAt = ({ from }: Span): Part => parts.find((part) => part.span.from === from) as Part;
  return {
    span,
    only,
    onEnd,
    rows: { block: undefined, audit: { kind: 'keys' } },
    rowsOf: (part) => ({ kind: 'within', column: pipeline.walk.column, ...partAt(part).range }),
    async *plan() {
      parts = await Promise.all(only.map(async (each) => ({ span: each, range: await horizonRange(context, each) })));
      const ranges = parts.map((part) => part.range);
      range = { from: (ranges[0] as LtWindow).from, to: (ranges.at(-1) as LtWindow).to };
      const expected = density.blocks === 0 ? 0 : (density.rows * spanSize(span)) / density.blocks;
      const windows = planOver(ranges, ratio(expected, widthOf(range)));
      width = windows.reduce((sum, window) => sum + widthOf(window), 0);
      yield roundOf(context, windows, false);
      const edges = await proof.edgesOf(parts);
      // Rows that no transaction proves are read twice, the second time by other windows.
      const again = planOver(edges, ratio(rows, width)).flatMap((window) => halve(window) ?? [window]);
      if (again.length > 0) yield roundOf(context, again, true);
    },
    next(request, page) {
      if (!('window' in request)) return [];
      rows += page.added;
      return followUp(work, { span, parts }, request, page);
    },
    halve(request) {
      // Smaller windows show no more than the span itself, which is read again in halves.
      if (!('window' in request) || widthOf(request.window) <= widthOf(range) / spanSize(span)) return [];
      return (halve(request.window) ?? []).map((half) =>
        windowRequest(context, half, request.page.isSupplement === true),
      );
    },
    async compare(found, some) {
      const bad: BadBlock[] = [];
      for (const each of some.filter(({ from }) => compared.includes(from))) {
        bad.push(...(await proof.compareSpan(found, each, partAt(each).range)));
      }
      return bad;
    },
    entry(part) {
      const share = spanSize(part) / totalSize(only);
      density.rows += rows * share;
      density.blocks += width === 0 ? spanSize(part) : (spanSize(span) * share * width) / widthOf(range);
      return { span: part, asOf, proof: compared.includes(part.from) ? 'transactions' : 'none' };
    },
    part: (some) => ltSpan(work, some),
  };
}

function roundOf(context: Context, windows: readonly LtWindow[], isSupplement: boolean): Round<WindowRequest> {
  const requests = windows.map((window) => windowRequest(context, window, isSupplement));
  return { requests, count: requests.length };
}

function ratio(of: number, to: number): number {
  return to === 0 ? 0 : of / to;
}

/** Windows over sorted ranges: over each, or over everything from the first to the last if that takes fewer requests. */
function planOver(ranges: readonly LtWindow[], density: number): readonly LtWindow[] {
  const planOf = (range: LtWindow): readonly LtWindow[] =>
    planEvenWindows(range, density * widthOf(range), LIST_WINDOW_ROWS);
  const alone = ranges.flatMap(planOf);
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined || first === last) return alone;
  const together = planOf({ from: first.from, to: last.to }).filter((window) => overlapsAny(ranges, window));
  return together.length < alone.length ? together : alone;
}

function overlapsAny(ranges: readonly LtWindow[], { from, to }: LtWindow): boolean {
  return ranges.some((range) => range.from <= to && range.to >= from);
}

/** Requests after a full window: its halves. A window of a single logical time is paged, or split by accounts. */
async function followUp(
  { context }: SharedWork,
  { span, parts }: { readonly span: Span; readonly parts: readonly Part[] },
  { window, page: rules }: WindowRequest,
  page: PageReport,
): Promise<readonly WalkRequest[]> {
  if (page.isTaken) return [];
  const isSupplement = rules.isSupplement === true;
  const ranges = parts.map((part) => part.range);
  const halves = halve(window)?.filter((half) => overlapsAny(ranges, half));
  if (halves !== undefined) return halves.map((half) => windowRequest(context, half, isSupplement));
  const { pipeline } = context;
  const { ties } = pipeline.walk;
  if (ties.kind === 'content') {
    const batches = inBatches(await accountsOfTies(context, ties.opcode, span, window.from), ACCOUNTS);
    return batches.map((accounts) =>
      windowRequest(
        context,
        window,
        isSupplement,
        accounts.map((each) => [ties.parameter, each]),
      ),
    );
  }
  // Rows of one logical time below the horizon do not change.
  const list = { ...windowOf(pipeline, window, PAGE_ROWS), list: String(window.from) };
  return [pageOf(pipeline, { ...list, page: rulesOf(pipeline, window, isSupplement) })];
}

/** @param part parameters that select less than a page of the window */
function windowRequest(
  { pipeline }: Context,
  window: LtWindow,
  isSupplement: boolean,
  part: Parameters = [],
): WindowRequest {
  return {
    window,
    http: listRequest(pipeline, windowOf(pipeline, window, PAGE_ROWS, part)),
    page: {
      ...rulesOf(pipeline, window, isSupplement),
      ...(part.length > 0 ? {} : { full: PAGE_ROWS, overflow: 'refuse' }),
    },
  };
}

function rulesOf({ walk }: Context['pipeline'], window: LtWindow, isSupplement: boolean): PageRules {
  return { given: {}, isSupplement, only: [{ kind: 'within', column: walk.column, ...window }] };
}
