import PQueue from 'p-queue';
import type { Header, NamedHeader } from '../audit/header.ts';
import { TonlakeError, WalkError } from '../errors.ts';
import type { Span } from '../span.ts';
import { type PageAsk, pagesOfBlock } from './ask.ts';
import { fetchShardState } from './chain.ts';
import type { WalkContext } from './context.ts';
import { type BlockProblem, SpanJob } from './job.ts';
import { Meter } from './meter.ts';
import { countProof, linkProof } from './proof.ts';
import { headersOf, planRowAsks, planRowSpans } from './rowplan.ts';
import { planEvenWindows, rangeOf } from './windows.ts';

/** Masterchain blocks whose headers are read from the store at once. */
const CHUNK = 5_000;
/** Most masterchain blocks of a span of headers; each span costs a request for the state at its end. */
export const HEADER_SPAN = 5_000;
/** Masterchain blocks of the first span of headers, which tells how dense they are. */
const PROBE_BLOCKS = 200;
/** Below this many masterchain blocks, windows of headers save nothing. */
const FEW_BLOCKS = 4;

/**
 * Brings some spans of a pipeline in, as its declaration proves them.
 *
 * @returns the blocks that could not be proven
 */
export async function walk(context: WalkContext, missing: readonly Span[]): Promise<readonly BlockProblem[]> {
  const problems: BlockProblem[] = [];
  const jobs = new PQueue({ concurrency: context.loaders.spans });
  const meter = new Meter(context.source);
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
        },
      ),
    );
  };
  const plans =
    context.pipeline.walk.proof === 'links' ? headerJobs(context, missing, meter) : rowJobs(context, missing, meter);
  try {
    for await (const prepare of plans) await start(prepare);
  } finally {
    await jobs.onIdle();
  }
  if (failure !== undefined) throw failure.error;
  return problems.sort((a, b) => a.seqno - b.seqno);
}

/** A span, ready to be brought in. */
type Prepare = () => Promise<Pick<SpanJob, 'run'>>;

async function* rowJobs(context: WalkContext, missing: readonly Span[], meter: Meter): AsyncGenerator<Prepare> {
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
  meter: Meter,
): Promise<SpanJob> {
  const loader = await context.loaders.take(context.pipeline);
  await loader.open(span, headersOf(span, headers));
  const asks = planRowAsks(context.mode, span, headers);
  return new SpanJob({ context, span, loader, proof: countProof(loader, headers), asks, meter });
}

async function* headerJobs(context: WalkContext, missing: readonly Span[], meter: Meter): AsyncGenerator<Prepare> {
  const density = new Density();
  const state = rememberLast((seqno: number) => {
    context.report({ event: 'planned', pipeline: context.pipeline.name, requests: 1 });
    return fetchShardState(context.source, seqno, `${context.pipeline.name} ${seqno}`);
  });
  for (const whole of missing) {
    let from = whole.from;
    while (from <= whole.to) {
      if (context.stop.aborted) return;
      const wished = { from, to: Math.min(whole.to, from + headerSpanSize(context, from, density) - 1) };
      const ends = await provableEnds(wished, context.first, state);
      if ('error' in ends) {
        yield async () => ({ run: async () => [ends] });
        from++;
        continue;
      }
      yield () => headerJob(context, ends, meter, density);
      // The first windows tell how dense the headers are; the next ones are planned by that.
      if (context.mode !== 'masterchain') await density.known;
      from = ends.span.to + 1;
    }
  }
}

/** A span of headers with the states that it is proven by. */
interface HeaderEnds {
  readonly span: Span;
  /** Undefined where the index begins. */
  readonly before: readonly NamedHeader[] | undefined;
  readonly after: readonly NamedHeader[];
}

/** As much of a span as there are states for: a masterchain block that is a hole cannot be an end. */
async function provableEnds(
  { from, to }: Span,
  first: number,
  state: (seqno: number) => Promise<readonly NamedHeader[]>,
): Promise<HeaderEnds | BlockProblem> {
  try {
    const before = from > first ? await state(from - 1) : undefined;
    for (let end = to; ; end--) {
      try {
        return { span: { from, to: end }, before, after: await state(end) };
      } catch (error) {
        if (end === from || !isHole(error)) throw error;
      }
    }
  } catch (error) {
    if (isHole(error)) return { seqno: from, error };
    throw error;
  }
}

function isHole(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && error.code === 'not-indexed';
}

function headerSpanSize({ mode, first, spanAsks, replaces }: WalkContext, from: number, density: Density): number {
  // What replaces an entry covers it as a whole.
  const isReplacing = replaces.length > 0;
  // Where the index begins there is no state before: its first block is asked for by itself.
  if (from === first) return 1;
  if (mode === 'masterchain') return Math.min(HEADER_SPAN, spanAsks);
  if (isReplacing) return HEADER_SPAN;
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

/** The state at the end of one span is the state before the next. */
function rememberLast<T>(load: (key: number) => Promise<T>): (key: number) => Promise<T> {
  let last: { readonly key: number; readonly value: T } | undefined;
  return async (key) => {
    if (last?.key !== key) last = { key, value: await load(key) };
    return last.value;
  };
}

async function headerJob(
  context: WalkContext,
  { span, before, after }: HeaderEnds,
  meter: Meter,
  density: Density,
): Promise<SpanJob> {
  const { source, pipeline, mode } = context;
  const blocks = span.to - span.from + 1;
  const isWindowed = before !== undefined && (mode === 'window' || (mode === 'auto' && blocks > FEW_BLOCKS));
  const asks: PageAsk[] = [];
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
  const ends = { before: before?.map(({ id }) => id), after: after.map(({ id }) => id) };
  const proof = linkProof({ span, ends, loader, source, pipeline: pipeline.name, onCount });
  return new SpanJob({ context, span, loader, proof, asks, meter, onEnd: () => density.giveUp() });
}

function greatestStart(headers: readonly Header[]): bigint {
  return headers.reduce((most, { startLt }) => (startLt > most ? startLt : most), 0n);
}
