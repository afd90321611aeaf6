import type { SealedRows } from '../../audit/sealed-rows.ts';
import type { Header } from '../../chain/headers.ts';
import { WalkError } from '../../core/errors.ts';
import { intersectSpans, type Span, spanSize, unionSpans } from '../../core/span.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import type { MasterchainWalk } from '../../declare/walk.ts';
import { doneSpans } from '../../warehouse/index.ts';
import { closedGate, type Gate } from '../gate.ts';
import { halve, planEvenWindows, rangeOf } from '../lt-windows.ts';
import { PAGE_ROWS, type PageRequest, pagesOfBlock, requestOf } from '../page-request.ts';
import { quoteHeaders } from '../quote/quote-headers.ts';
import { quoteRows } from '../quote/quote-rows.ts';
import { headersOf, planRowPages, planRowSpans } from '../row-plan.ts';
import { type HeaderEnds, provableEnds, ShardStates } from '../shard-states.ts';
import type { PageReport } from '../span-loader.ts';
import { linkProof, promisedRows } from '../span-proof.ts';
import type { BlockProblem, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Masterchain blocks whose headers are queried together. */
const CHUNK = 5_000;
/** Maximum masterchain blocks of a span of headers; each span costs a request for the state at its end. */
export const HEADER_SPAN = 5_000;
/** Masterchain blocks of the first span of headers, which shows how dense they are. */
export const PROBE_BLOCKS = 200;
/** Column of the masterchain block, in the tables of both. */
const BLOCK = 'mc_block_seqno';
/** Below this many masterchain blocks, windows of headers save nothing. */
export const FEW_BLOCKS = 4;

/** A page of a window, or of a single block. */
interface PagedRequest extends WalkRequest {
  readonly of: PageRequest;
}

type Context = WalkContext<MasterchainPipeline>;

/** Headers are proven by their links, other rows by the headers. */
export const masterchainWalk: WalkKind<MasterchainWalk> = {
  plan: (context, missing) =>
    context.pipeline.walk.proof === 'links' ? headerSpans(context, missing) : rowSpans(context, missing),
  quote: (quoting, missing, plan) =>
    (quoting.context.pipeline.walk.proof === 'links' ? quoteHeaders : quoteRows)(quoting, missing, plan),
};

async function* rowSpans(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  for (const whole of missing) {
    let from = whole.from;
    while (from <= whole.to) {
      if (context.stop.aborted) return;
      const chunk = { from, to: Math.min(whole.to, from + CHUNK - 1) };
      const headers = await context.sink.headers({ from: chunk.from - 1, to: chunk.to + 1 });
      requireHeaders(context, chunk, headers);
      const spans = planRowSpans(context, chunk, headers);
      // The last span of a chunk may go on in the next one.
      const settled = chunk.to < whole.to && spans.length > 1 ? spans.slice(0, -1) : spans;
      for (const span of settled) yield () => rowSpan(context, span, headers);
      from = (settled.at(-1) as Span).to + 1;
    }
  }
}

/** Headers were exported before, so missing ones were lost since. */
function requireHeaders({ pipeline }: WalkContext, span: Span, headers: ReadonlyMap<number, unknown>): void {
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    if (headers.has(seqno)) continue;
    throw new WalkError(`walk ${pipeline.name} ${seqno}: expected committed headers of block ${seqno}, got none`, {
      code: 'no-headers',
      hint: `tonlake run blocks --range ${seqno}`,
    });
  }
}

/** Transactions are proven by the headers' `tx_count`. */
function rowSpan(
  context: Context,
  span: Span,
  headers: ReadonlyMap<number, readonly Header[]>,
): SpanWalk<PagedRequest> {
  const pages = planRowPages(context.mode, span, headers);
  return {
    ...pagedSpan(context, span, pages, (seqno) => pagesOfBlock(seqno, promisedRows(headers.get(seqno) ?? []))),
    rows: { block: BLOCK, audit: { kind: 'counts', headers: headersOf(span, headers) } },
  };
}

/** The common parts of spans of rows and of headers. */
function pagedSpan(
  { pipeline }: Context,
  span: Span,
  pages: readonly PageRequest[],
  pagesOf: (seqno: number) => readonly PageRequest[],
): Omit<SpanWalk<PagedRequest>, 'rows'> {
  return {
    span,
    unit: 'block',
    async *plan() {
      yield { requests: pages.map((each) => pagedRequest(pipeline, each)), count: pages.length };
    },
    next: ({ of }, page) => remainder(pipeline, of, page).map((each) => pagedRequest(pipeline, each)),
    repair: (seqno) => pagesOf(seqno).map((each) => pagedRequest(pipeline, each)),
    entry: (part) => ({ span: part, ...(spanSize(part) === spanSize(span) ? { planned: pages.length } : {}) }),
  };
}

function pagedRequest(pipeline: MasterchainPipeline, of: PageRequest): PagedRequest {
  const http = requestOf(pipeline, of);
  if (of.kind === 'block') return { of, http, page: { unit: of.seqno } };
  const overflow = pipeline.walk.windows.order === 'total' ? 'cut' : 'refuse';
  return { of, http, page: { full: PAGE_ROWS, overflow } };
}

/** The requests after a full page. None if its rows share one logical time: its blocks are then requested one by one. */
function remainder({ walk }: MasterchainPipeline, of: PageRequest, page: PageReport): readonly PageRequest[] {
  if (of.kind === 'block' || page.records < PAGE_ROWS) return [];
  const { window } = of;
  if (walk.windows.order !== 'total') return (halve(window) ?? []).map((half) => ({ kind: 'window', window: half }));
  const last = BigInt(page.lastLt ?? window.from);
  return last > window.from ? [{ kind: 'window', window: { from: last, to: window.to } }] : [];
}

/** Spans next to a block without a shard state are tried once more after all others. */
async function* headerSpans(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const density: Density = { headersPerBlock: undefined, known: closedGate(context.stop) };
  const states = new ShardStates(context);
  const left: Span[] = [];
  for await (const planned of headerEnds(context, missing, density, states)) {
    if ('error' in planned) left.push(planned.span);
    else yield () => headerSpan(context, planned, density);
  }
  states.retryHoles();
  for await (const planned of headerEnds(context, unionSpans(left), density, states)) {
    if ('error' in planned) yield () => planned;
    else yield () => headerSpan(context, planned, density);
  }
}

async function* headerEnds(
  context: Context,
  missing: readonly Span[],
  density: Density,
  states: ShardStates,
): AsyncGenerator<HeaderEnds | BlockProblem> {
  for (const whole of missing) {
    let from = whole.from;
    while (from <= whole.to) {
      if (context.stop.aborted) return;
      const wished = { from, to: Math.min(whole.to, from + headerSpanSize(context, from, density) - 1) };
      const ends = await unlessStopped(context.stop, provableEnds(wished, context.ends.first, states));
      if (ends === undefined) return;
      yield ends;
      if (context.stop.aborted) return;
      // The first span shows how dense the headers are; the next ones are planned by that.
      if (!('error' in ends) && context.mode !== 'masterchain') await density.known.opened;
      from = ends.span.to + 1;
    }
  }
}

/** Undefined if the run was stopped. */
async function unlessStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}

function headerSpanSize({ mode, ends, requestsPerSpan }: Context, from: number, density: Density): number {
  // There is no state before the first block of the index, which is requested by itself.
  if (from === ends.first) return 1;
  if (mode === 'masterchain') return Math.min(HEADER_SPAN, requestsPerSpan);
  return density.headersPerBlock === undefined ? PROBE_BLOCKS : HEADER_SPAN;
}

/** Headers per masterchain block, learnt from the spans so far. */
interface Density {
  headersPerBlock: number | undefined;
  /** Opens when the first span has ended. */
  readonly known: Gate;
}

/** Headers are proven by their links. */
async function headerSpan(
  context: Context,
  { span, before, after }: HeaderEnds,
  density: Density,
): Promise<SpanWalk<PagedRequest>> {
  const { source, pipeline } = context;
  const blocks = spanSize(span);
  const sealed = await sealedRows(context, span);
  // At the beginning of the index, a state may name older blocks.
  const newest = before === undefined ? after.filter(({ mcSeqno }) => mcSeqno >= span.from) : after;
  const ends = { before: before?.map(({ id }) => id), after: newest.map(({ id }) => id), sealed };
  const onCount = (count: number): void => {
    if (blocks >= PROBE_BLOCKS / 2) density.headersPerBlock = count / blocks;
    density.known.open();
  };
  const proof = linkProof({ span, ends, source, pipeline: pipeline.name, onCount });
  const pages = headerPages(context, { span, before, after }, density);
  return {
    ...pagedSpan(context, span, pages, (seqno) => pagesOfBlock(seqno, 0)),
    rows: { block: BLOCK, audit: { kind: 'none' } },
    see: ({ of }, answer) => {
      if (of.kind === 'block') proof.see(of.seqno, answer);
    },
    audit: (rows) => proof.audit(rows),
    onEnd: density.known.open,
  };
}

function headerPages({ mode }: Context, { span, before, after }: HeaderEnds, density: Density): readonly PageRequest[] {
  const blocks = spanSize(span);
  if (before === undefined || mode === 'masterchain' || (mode === 'auto' && blocks <= FEW_BLOCKS)) {
    return Array.from({ length: blocks }, (_, at) => pagesOfBlock(span.from + at, 0)).flat();
  }
  const range = { from: (rangeOf(before)?.from ?? 0n) + 1n, to: greatestStart(after) };
  const headers = blocks * (density.headersPerBlock ?? after.length);
  return planEvenWindows(range, headers).map((window) => ({ kind: 'window', window }));
}

/** Committed transactions of a span; undefined for none. */
async function sealedRows({ sink, registry }: WalkContext, span: Span): Promise<SealedRows | undefined> {
  const spans = intersectSpans([span], doneSpans(sink.ledger(), registry.playing('counted').pipeline.name));
  return spans.length === 0 ? undefined : { spans, blocks: await sink.transactions(spans) };
}

function greatestStart(headers: readonly Header[]): bigint {
  return headers.reduce((most, { startLt }) => (startLt > most ? startLt : most), 0n);
}
