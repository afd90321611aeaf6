import PQueue from 'p-queue';
import type { SealedRows } from '../../audit/sealed-rows.ts';
import type { Header } from '../../chain/headers.ts';
import { WalkError } from '../../core/errors.ts';
import { intersectSpans, type Span, unionSpans } from '../../core/span.ts';
import { doneSpans } from '../../warehouse/ledger/done-spans.ts';
import { planEvenWindows, rangeOf } from '../lt-windows.ts';
import { type PageRequest, pagesOfBlock } from '../page-request.ts';
import { RequestMeter } from '../request-meter.ts';
import { headersOf, planRowAsks, planRowSpans } from '../row-plan.ts';
import { type HeaderEnds, provableEnds, ShardStates } from '../shard-states.ts';
import { countProof, linkProof } from '../span-proof.ts';
import { type BlockProblem, SpanTask } from '../span-task.ts';
import type { WalkContext } from '../walk-context.ts';

/** Masterchain blocks whose headers are read from the store at once. */
const CHUNK = 5_000;
/** Most masterchain blocks of a span of headers; each span costs a request for the state at its end. */
export const HEADER_SPAN = 5_000;
/** Masterchain blocks of the first span of headers, which tells how dense they are. */
export const PROBE_BLOCKS = 200;
/** The pipeline whose rows headers count. */
const COUNTED = 'transactions';
/** Below this many masterchain blocks, windows of headers save nothing. */
export const FEW_BLOCKS = 4;

/**
 * Brings some spans of a pipeline in, as its declaration proves them.
 *
 * @returns the blocks that could not be proven
 */
export async function walk(given: WalkContext, missing: readonly Span[]): Promise<readonly BlockProblem[]> {
  const problems: BlockProblem[] = [];
  const failed = new AbortController();
  // What cannot go on for one span ends them all: nothing more is planned or asked for, and what is whole is committed.
  const context = { ...given, stop: AbortSignal.any([given.stop, failed.signal]) };
  const jobs = new PQueue({ concurrency: context.loaders.spans });
  const meter = new RequestMeter(context.source);
  let failure: { readonly error: unknown } | undefined;
  const start = async (prepare: Prepare): Promise<void> => {
    await jobs.onSizeLessThan(1);
    if (failure !== undefined || context.stop.aborted) return;
    const job = await prepare();
    void jobs.add(() =>
      job.run().then(
        (found) => problems.push(...found),
        (error: unknown) => {
          failure ??= { error };
          failed.abort();
        },
      ),
    );
  };
  const plans =
    context.pipeline.walk.proof === 'links' ? headerJobs(context, missing, meter) : rowJobs(context, missing, meter);
  try {
    for await (const prepare of plans) {
      await start(prepare);
      if (context.stop.aborted) break;
    }
  } finally {
    await jobs.onIdle();
  }
  if (failure !== undefined) throw failure.error;
  return problems.sort((a, b) => a.span.from - b.span.from);
}

/** A span, ready to be brought in. */
type Prepare = () => Promise<Pick<SpanTask, 'run'>>;

async function* rowJobs(context: WalkContext, missing: readonly Span[], meter: RequestMeter): AsyncGenerator<Prepare> {
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
      for (const span of settled) yield () => rowJob(context, span, headers, meter);
      from = (settled.at(-1) as Span).to + 1;
    }
  }
}

/** Headers come first, so that what is missing here was lost since. */
function requireHeaders({ pipeline }: WalkContext, span: Span, headers: ReadonlyMap<number, unknown>): void {
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    if (headers.has(seqno)) continue;
    throw new WalkError(`walk ${pipeline.name} ${seqno}: expected committed headers of block ${seqno}, got none`, {
      code: 'no-headers',
      hint: `tonlake run blocks --range ${seqno}`,
    });
  }
}

async function rowJob(
  context: WalkContext,
  span: Span,
  headers: ReadonlyMap<number, readonly Header[]>,
  meter: RequestMeter,
): Promise<SpanTask> {
  const loader = await context.loaders.take(context.pipeline);
  await loader.open(span, headersOf(span, headers));
  const asks = planRowAsks(context.mode, span, headers);
  return new SpanTask({ context, span, loader, proof: countProof(loader, headers), asks, meter });
}

/** Spans that end before a hole in the states of shards, or begin after one, are asked for once more when all others are planned. */
async function* headerJobs(
  context: WalkContext,
  missing: readonly Span[],
  meter: RequestMeter,
): AsyncGenerator<Prepare> {
  const density = new Density();
  const states = new ShardStates(context);
  const left: Span[] = [];
  for await (const planned of headerEnds(context, missing, density, states)) {
    if ('error' in planned) left.push(planned.span);
    else yield () => headerJob(context, planned, meter, density);
  }
  states.askAgain();
  for await (const planned of headerEnds(context, unionSpans(left), density, states)) {
    if ('error' in planned) yield async () => ({ run: async () => [planned] });
    else yield () => headerJob(context, planned, meter, density);
  }
}

async function* headerEnds(
  context: WalkContext,
  missing: readonly Span[],
  density: Density,
  states: ShardStates,
): AsyncGenerator<HeaderEnds | BlockProblem> {
  for (const whole of missing) {
    let from = whole.from;
    while (from <= whole.to) {
      if (context.stop.aborted) return;
      const wished = { from, to: Math.min(whole.to, from + headerSpanSize(context, from, density) - 1) };
      const ends = await unlessStopped(context.stop, provableEnds(wished, context.first, states));
      if (ends === undefined) return;
      yield ends;
      if (context.stop.aborted) return;
      // The first windows tell how dense the headers are; the next ones are planned by that.
      if (!('error' in ends) && context.mode !== 'masterchain') await density.known;
      from = ends.span.to + 1;
    }
  }
}

/** Undefined when the run shall end meanwhile. */
async function unlessStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}

function headerSpanSize({ mode, first, requestsPerSpan }: WalkContext, from: number, density: Density): number {
  // Where the index begins there is no state before: its first block is asked for by itself.
  if (from === first) return 1;
  if (mode === 'masterchain') return Math.min(HEADER_SPAN, requestsPerSpan);
  return density.headersPerBlock === undefined ? PROBE_BLOCKS : HEADER_SPAN;
}

/** How many headers a masterchain block brings, learnt from the spans so far. */
class Density {
  headersPerBlock: number | undefined;
  readonly known: Promise<void>;
  private settle: () => void = () => undefined;

  constructor() {
    this.known = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  learn(headers: number, blocks: number): void {
    if (blocks >= PROBE_BLOCKS / 2) this.headersPerBlock = headers / blocks;
    this.settle();
  }

  /** Ends the waiting for a first span that failed. */
  giveUp(): void {
    this.settle();
  }
}

async function headerJob(
  context: WalkContext,
  { span, before, after }: HeaderEnds,
  meter: RequestMeter,
  density: Density,
): Promise<SpanTask> {
  const { source, pipeline, mode } = context;
  const blocks = span.to - span.from + 1;
  const isWindowed = before !== undefined && (mode === 'window' || (mode === 'auto' && blocks > FEW_BLOCKS));
  const asks: PageRequest[] = [];
  if (isWindowed) {
    const range = { from: (rangeOf(before)?.from ?? 0n) + 1n, to: greatestStart(after) };
    const headers = blocks * (density.headersPerBlock ?? after.length);
    for (const window of planEvenWindows(range, headers)) asks.push({ kind: 'window', window });
  } else {
    for (let seqno = span.from; seqno <= span.to; seqno++) asks.push(...pagesOfBlock(seqno, 0));
  }
  const loader = await context.loaders.take(pipeline);
  await loader.open(span, []);
  const onCount = (count: number) => density.learn(count, blocks);
  const sealed = await sealedRows(context, span);
  // Where the index begins, a state may name blocks that are older than it.
  const newest = before === undefined ? after.filter(({ mcSeqno }) => mcSeqno >= span.from) : after;
  const ends = { before: before?.map(({ id }) => id), after: newest.map(({ id }) => id), sealed };
  const proof = linkProof({ span, ends, loader, source, pipeline: pipeline.name, onCount });
  return new SpanTask({ context, span, loader, proof, asks, meter, onEnd: () => density.giveUp() });
}

/** Transactions of a span that are committed already; undefined for none. */
async function sealedRows({ sink }: WalkContext, span: Span): Promise<SealedRows | undefined> {
  const spans = intersectSpans([span], doneSpans(sink.ledger(), COUNTED));
  return spans.length === 0 ? undefined : { spans, blocks: await sink.transactions(spans) };
}

function greatestStart(headers: readonly Header[]): bigint {
  return headers.reduce((most, { startLt }) => (startLt > most ? startLt : most), 0n);
}
