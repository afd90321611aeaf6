import type { ProvenRows } from '../../audit/proven-rows.ts';
import { TonlakeError } from '../../core/errors.ts';
import { hullOf, intersectSpans, type Span, seqnosOf, spanSize, subtractSpans, unionSpans } from '../../core/span.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import type { MasterchainWalk } from '../../declare/walk.ts';
import { doneSpans } from '../../warehouse/index.ts';
import { CommittedHeaders } from '../committed-headers.ts';
import { HeaderPlan } from '../header-plan.ts';
import { halve } from '../lt-windows.ts';
import { limitOf, PAGE_ROWS, type PageRequest, pagesOfBlock, requestOf, wholeWindow } from '../page-request.ts';
import { CHUNK_BLOCKS, nearSpan, type PlannedRows, planRows } from '../row-packs.ts';
import { headersOf } from '../row-plan.ts';
import { type HeaderEnds, provableEnds, ShardStates } from '../shard-states.ts';
import type { PageReport } from '../span-loader.ts';
import { linkProof, txCountOf } from '../span-proof.ts';
import type { BlockProblem, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/**
 * Size of a span of headers, which bounds memory; each span costs a request for the state at its end. Headers by the shards before the
 * span, of which the first states of an index lack some.
 */
const SPAN = { headers: 40_000, blocks: 10_000 } as const;
/** Column of the masterchain block, in tables of headers and of transactions. */
const BLOCK = 'mc_block_seqno';
/** A page with at most this many rows, those of a few blocks, is not halved. */
const FEW_ROWS = 100;
/** Below this many masterchain blocks, windows of headers save nothing. */
const FEW_BLOCKS = 4;

/** A page of a window, or of a single block. */
interface PagedRequest extends WalkRequest {
  readonly of: PageRequest;
}

type Context = WalkContext<MasterchainPipeline>;

/** Headers are proven by their links, other rows by the headers. */
export const masterchainWalk: WalkKind<MasterchainWalk> = {
  plan: (context, missing) =>
    context.pipeline.walk.proof === 'links' ? headerSpans(context, missing) : rowSpans(context, missing),
};

/** Transactions are proven by the headers' `tx_count`. */
async function* rowSpans(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  for await (const planned of planRows(context, missing)) yield () => countedSpan(context, planned);
}

function countedSpan(context: Context, { span, only, headers, own, pages }: PlannedRows): SpanWalk<PagedRequest> {
  const pagesOf = (seqno: number): readonly PageRequest[] => pagesOfBlock(seqno, txCountOf(headers.get(seqno) ?? []));
  return {
    ...pagedSpan(context, span, [pages]),
    only,
    rows: { block: BLOCK, audit: { kind: 'counts', headers: own } },
    part: (blocks) => {
      const ofBlocks = blocks.flatMap((each) => headersOf(each, headers));
      const alone = { headers, own: ofBlocks, pages: seqnosOf(blocks).flatMap(pagesOf) };
      return unplanned(countedSpan(context, { span: hullOf(blocks) ?? span, only: blocks, ...alone }));
    },
  };
}

/** Requests of blocks that are walked again were not planned. */
function unplanned(walk: SpanWalk<PagedRequest>): SpanWalk<PagedRequest> {
  return { ...walk, entry: (part) => ({ span: part }) };
}

/** The common parts of spans of rows and of headers. */
function pagedSpan(
  { pipeline }: Context,
  span: Span,
  rounds: Iterable<readonly PageRequest[]> | AsyncIterable<readonly PageRequest[]>,
): Omit<SpanWalk<PagedRequest>, 'rows'> {
  let planned = 0;
  return {
    span,
    async *plan() {
      for await (const pages of rounds) {
        planned += pages.length;
        yield { requests: pages.map((each) => pagedRequest(pipeline, each)), count: pages.length };
      }
    },
    next: ({ of }, page) => followUp(pipeline, of, page).map((each) => pagedRequest(pipeline, each)),
    // The blocks of a window that has no halves are requested by themselves.
    halve: ({ of }) => halvesOf(pipeline, of).map((each) => pagedRequest(pipeline, each)),
    entry: (part) => ({ span: part, ...(spanSize(part) === spanSize(span) ? { planned } : {}) }),
  };
}

function pagedRequest(pipeline: MasterchainPipeline, of: PageRequest): PagedRequest {
  const http = requestOf(pipeline, of);
  if (of.kind === 'block') return { of, http, page: { unit: of.seqno } };
  const { column, order } = pipeline.walk.windows;
  const only = [{ kind: 'within', column, ...of.window } as const];
  return { of, http, page: order === 'total' ? { only } : { only, full: PAGE_ROWS, overflow: 'refuse' } };
}

/** Both halves of a page of a window; none if it has few rows. */
function halvesOf({ walk }: MasterchainPipeline, of: PageRequest): readonly PageRequest[] {
  if (of.kind === 'block') return [];
  if (walk.windows.order !== 'total') return (halve(of.window) ?? []).map(wholeWindow);
  if (of.rows <= FEW_ROWS) return [];
  const rows = Math.ceil(of.rows / 2);
  return [
    { ...of, rows, isLast: false },
    { ...of, offset: of.offset + rows, rows: of.rows - rows },
  ];
}

/** Pages for the rest of a window. */
function followUp({ walk }: MasterchainPipeline, of: PageRequest, { records }: PageReport): readonly PageRequest[] {
  if (of.kind === 'block') return [];
  const isFull = records >= limitOf(of);
  if (walk.windows.order !== 'total') return isFull ? (halve(of.window) ?? []).map(wholeWindow) : [];
  const next = { ...of, offset: of.offset + records, rows: Math.max(0, of.rows - records) };
  // Rows of other blocks may have displaced a few, but no more than a page.
  if (isFull) return of.isLast && of.rows > 0 && of.rows < PAGE_ROWS ? [next] : [];
  // A source that cut the page short has the rest. One with few of the rows has no more: their blocks are then requested one by one.
  return next.rows > 0 && records >= next.rows ? [next] : [];
}

/** Spans next to a block without a shard state are tried again after all others. */
async function* headerSpans(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const plan = new HeaderPlan(context.stop);
  const states = new ShardStates(context);
  let left: readonly Span[] = [];
  let isAny = false;
  for await (const ends of headerEnds(context, missing, states)) {
    if ('error' in ends) left = unionSpans([...left, ...intersectSpans(missing, [ends.span])]);
    else {
      isAny = true;
      yield () => headerSpan(context, ends, plan);
    }
  }
  if (left.length > 0 && isAny) await plan.begun;
  states.retryHoles();
  for await (const ends of headerEnds(context, left, states)) {
    if ('error' in ends) yield () => ends;
    else yield () => headerSpan(context, ends, plan);
  }
}

async function* headerEnds(
  context: Context,
  missing: readonly Span[],
  states: ShardStates,
): AsyncGenerator<HeaderEnds | BlockProblem> {
  for (let rest = missing; isNotEmpty(rest); ) {
    if (context.stop.aborted) return;
    const ends = await unlessStopped(context.stop, headerSpanOf(context, rest, states));
    if (ends === undefined) return;
    yield ends;
    if (context.stop.aborted) return;
    rest = subtractSpans(rest, [{ from: 0, to: ends.span.to }]);
  }
}

function isNotEmpty(spans: readonly Span[]): spans is readonly [Span, ...Span[]] {
  return spans.length > 0;
}

/** The next span of headers. Includes holes that cost fewer requests than the states at both of their ends. */
async function headerSpanOf(
  { mode, ends, requestsPerSpan }: Context,
  missing: readonly [Span, ...Span[]],
  states: ShardStates,
): Promise<HeaderEnds | BlockProblem> {
  const [{ from }] = missing;
  let hole = 0;
  let blocks = Math.min(CHUNK_BLOCKS, requestsPerSpan);
  // There is no state before the first block of the index, which is requested by itself.
  if (from === ends.first) blocks = 1;
  else if (mode !== 'masterchain') {
    const before = await states.at(from - 1);
    const headers = Math.min(SPAN.headers, requestsPerSpan * PAGE_ROWS);
    if (!(before instanceof TonlakeError)) {
      blocks = Math.max(1, Math.floor(headers / before.length));
      hole = Math.floor(PAGE_ROWS / before.length);
    }
  }
  const span = nearSpan(missing, { hole, blocks: Math.min(blocks, SPAN.blocks) });
  return provableEnds(span, missing, states);
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

/** Headers are proven by their links. */
async function headerSpan(context: Context, known: HeaderEnds, plan: HeaderPlan): Promise<SpanWalk<PagedRequest>> {
  const { span, only } = known;
  const { source, pipeline, ends } = context;
  const committed = new CommittedHeaders(context);
  const holes = intersectSpans(subtractSpans([span], only), committed.spans);
  const proof = linkProof({
    ...{ source, pipeline: pipeline.name, first: ends.first, known, committed },
    proven: await provenRows(context, only),
    holes: holes.length === 0 ? undefined : { spans: holes, ids: await committed.idsIn(holes) },
  });
  const see: SpanWalk<PagedRequest>['see'] = ({ of }, answer) => {
    if (of.kind === 'block') proof.see(of.seqno, answer);
  };
  const rows = { block: BLOCK, audit: { kind: 'none' } } as const;
  const alone = (blocks: readonly Span[]): SpanWalk<PagedRequest> => ({
    ...unplanned({ ...pagedSpan(context, hullOf(blocks) ?? span, [blockPages(blocks)]), rows }),
    only: blocks,
    see,
    audit: (found) => proof.auditAlone(found, blocks),
    part: alone,
  });
  const paged = pagedSpan(context, span, headerPages(context, known, plan));
  return {
    ...paged,
    only,
    rows,
    see,
    audit: (found) => proof.audit(found),
    part: alone,
    onEnd: plan.open,
    next(request, page) {
      if (request.of.kind === 'window') plan.learn(request.of.window, page.records);
      return paged.next?.(request, page) ?? [];
    },
  };
}

/** The lists of some blocks. */
function blockPages(blocks: readonly Span[]): readonly PageRequest[] {
  return seqnosOf(blocks).flatMap((seqno) => pagesOfBlock(seqno, 0));
}

async function* headerPages(
  { mode }: Context,
  ends: HeaderEnds,
  plan: HeaderPlan,
): AsyncGenerator<readonly PageRequest[]> {
  const { span, before } = ends;
  const blocks = spanSize(span);
  if (before === undefined || mode === 'masterchain' || (mode === 'auto' && blocks <= FEW_BLOCKS)) {
    yield blockPages([span]);
    return;
  }
  for await (const windows of plan.windowsOf(ends)) yield windows.map(wholeWindow);
}

/** Committed transactions of some blocks; undefined for none. */
async function provenRows({ sink, registry }: WalkContext, blocks: readonly Span[]): Promise<ProvenRows | undefined> {
  const spans = intersectSpans(blocks, doneSpans(sink.ledger(), registry.playing('counted').pipeline.name));
  return spans.length === 0 ? undefined : { spans, blocks: await sink.transactions(spans) };
}
