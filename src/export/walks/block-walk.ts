import type { BadBlock } from '../../audit/reconcile.ts';
import { hullOf, type Span, seqnosOf, spanSize, totalSize } from '../../core/span.ts';
import { isProving } from '../../declare/cross-check.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { BlockWalk } from '../../declare/walk.ts';
import { spansOf } from '../../warehouse/index.ts';
import { BlockWindows } from '../block-windows.ts';
import { readAsOf, splitAtFinality } from '../finality.ts';
import { ListProof } from '../list-proof.ts';
import type { LtWindow } from '../lt-windows.ts';
import { fixedGiven, listRequest, PAGE_ROWS, pageOf, windowOf } from '../page-request.ts';
import type { PageReport } from '../span-loader.ts';
import type { ProvableRows, Round, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Maximum blocks of a span: bounds memory, and the work that a kill can lose. */
const SPAN_BLOCKS = 500;
/** Number of latest entries that row density is estimated from. */
const DENSITY_ENTRIES = 8;

/** Rows of several blocks. */
interface WindowRequest extends WalkRequest {
  readonly window: LtWindow;
}

type Context = WalkContext<PipelineOf<BlockWalk>>;

/**
 * Requests masterchain blocks one by one; or several together, if the transactions in the warehouse show which rows they must have.
 */
export const blockWalk: WalkKind<BlockWalk> = {
  plan: planBlocks,
  walkSpan: blockSpan,
};

function* planBlocks(context: Context, missing: readonly Span[]): Generator<Prepare> {
  const { walk } = context.pipeline;
  const size = Math.min(SPAN_BLOCKS, context.requestsPerSpan);
  const proof = new ListProof(context);
  for (const whole of proof.cut(splitAtFinality(missing, walk.lookBack, context.ends.last))) {
    for (let from = whole.from; from <= whole.to; from += size) {
      yield () => blockSpan(context, { from, to: Math.min(whole.to, from + size - 1) });
    }
  }
}

/** @param only blocks of the span, each requested by itself. Default: all, together where that is cheaper */
async function blockSpan(
  context: Context,
  span: Span,
  only?: readonly Span[],
): Promise<SpanWalk<WindowRequest | WalkRequest>> {
  const { ends, pipeline } = context;
  const { walk } = pipeline;
  const proof = new ListProof(context);
  const isCompared = proof.isComparable(span);
  const isProven = isCompared && pipeline.crossCheck !== undefined && isProving(pipeline.crossCheck);
  const asOf = readAsOf(walk.lookBack, ends.last);
  const windows = isCompared && only === undefined ? await windowsOf(context, span, proof) : undefined;
  const isFinal = span.to <= ends.last - walk.lookBack;
  const compare = (rows: ProvableRows, parts: readonly Span[]): Promise<readonly BadBlock[]> =>
    proof.compareBlocks(rows, parts, isFinal ? windows?.answered : undefined);
  return {
    span,
    only,
    rows: { block: walk.column, audit: { kind: 'keys' } },
    async *plan() {
      yield windows === undefined ? blockRound(context, only ?? [span]) : windowRound(context, windows);
    },
    next: (request, page) =>
      'window' in request && windows !== undefined ? nextWindows(context, windows, request, page) : [],
    ...(windows === undefined ? {} : { answered: windows.answered }),
    // The blocks of a window that has no halves are requested by themselves.
    halve: (request) =>
      'window' in request && windows !== undefined ? halvesOf(context, windows, request.window) : [],
    part: (blocks) => blockSpan(context, hullOf(blocks) ?? span, blocks),
    ...(isCompared ? { compare } : {}),
    entry: (part) => ({ span: part, asOf, proof: isProven ? 'transactions' : 'none' }),
  };
}

/** The windows of a span; undefined if requesting its blocks one by one is no more work. */
async function windowsOf(context: Context, span: Span, proof: ListProof): Promise<BlockWindows | undefined> {
  const { mode, sink, pipeline } = context;
  const { windows } = pipeline.walk;
  const blocks = spanSize(span);
  if (windows === undefined || mode === 'masterchain' || blocks === 1) return undefined;
  const found = new BlockWindows(span, await sink.headers(span));
  const expected = expectedRows(context, span) ?? (await proof.traces(span)) ?? found.transactions;
  found.plan(expected, windows.limit);
  return mode === 'auto' && found.planned.length >= blocks ? undefined : found;
}

/** Rows of a span if it is as dense as the latest entries; undefined if there are none. */
function expectedRows({ sink, pipeline: { name, tables } }: Context, span: Span): number | undefined {
  const entries = sink
    .ledger()
    .filter(({ pipeline }) => pipeline === name)
    .slice(-DENSITY_ENTRIES);
  const rows = entries.reduce((sum, entry) => sum + (entry.tables[tables[0]?.name ?? '']?.rows ?? 0), 0);
  const blocks = totalSize(entries.flatMap(spansOf));
  return blocks === 0 ? undefined : (rows / blocks) * spanSize(span);
}

function blockRound(context: Context, blocks: readonly Span[]): Round {
  const requests = seqnosOf(blocks).map((seqno) => blockRequest(context, seqno));
  return { requests, count: requests.length };
}

function windowRound(context: Context, { planned }: BlockWindows): Round<WindowRequest> {
  return { requests: planned.map((window) => windowRequest(context, window)), count: planned.length };
}

function nextWindows(
  context: Context,
  windows: BlockWindows,
  { window }: WindowRequest,
  page: PageReport,
): readonly WindowRequest[] {
  const { limit = PAGE_ROWS } = context.pipeline.walk.windows ?? {};
  if (page.isTaken) windows.take(window);
  // Blocks of a window with a record that cannot be decoded are requested by themselves.
  else if (page.records >= limit) return halvesOf(context, windows, window);
  return [];
}

function halvesOf(context: Context, windows: BlockWindows, window: LtWindow): readonly WindowRequest[] {
  return windows.halve(window).map((half) => windowRequest(context, half));
}

function windowRequest({ pipeline }: Context, window: LtWindow): WindowRequest {
  const { limit = PAGE_ROWS, column = '' } = pipeline.walk.windows ?? {};
  return {
    window,
    http: listRequest(pipeline, windowOf(pipeline, window, limit)),
    page: {
      given: fixedGiven(pipeline),
      full: limit,
      overflow: 'divide',
      only: [{ kind: 'within', column, ...window }],
    },
  };
}

function blockRequest({ pipeline }: Context, seqno: number): WalkRequest {
  const { limit, seqno: parameter } = pipeline.walk;
  const where = [[parameter, String(seqno)]] as const;
  const label = `${pipeline.name} ${seqno}`;
  const page = { unit: seqno, given: { ...fixedGiven(pipeline), seqno: BigInt(seqno) } };
  if (limit !== undefined) return pageOf(pipeline, { where, limit, label, page, list: seqno, missing: 'wait' });
  return { http: { ...listRequest(pipeline, { where, limit, label }), missing: 'wait' }, page };
}
