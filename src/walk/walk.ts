import PQueue from 'p-queue';
import type { Header } from '../audit/header.ts';
import { WalkError } from '../errors.ts';
import type { Span } from '../span.ts';
import { type PageAsk, pagesOfBlock } from './ask.ts';
import { fetchShardState } from './chain.ts';
import type { WalkContext } from './context.ts';
import { SpanJob } from './job.ts';
import { Loader } from './loader.ts';
import { Meter } from './meter.ts';
import { countProof, linkProof } from './proof.ts';
import { headersOf, planRowAsks, planRowSpans } from './rowplan.ts';
import { planEvenWindows, rangeOf } from './windows.ts';

/** Spans under way at once: one is encoded and committed while the next is fetched. */
const JOBS = 2;
/** Masterchain blocks whose headers are read from the store at once. */
const CHUNK = 20_000;
/** Most masterchain blocks of a span of headers; each span costs a request for the state at its end. */
export const HEADER_SPAN = 5_000;
/** Below this many masterchain blocks, windows of headers save nothing. */
const FEW_BLOCKS = 4;

/** Brings some spans of a pipeline in, as its declaration proves them. */
export async function walk(context: WalkContext, missing: readonly Span[]): Promise<void> {
  const jobs = new PQueue({ concurrency: JOBS });
  const meter = new Meter(context.source);
  let failure: { readonly error: unknown } | undefined;
  const start = async (prepare: () => Promise<SpanJob>): Promise<void> => {
    await jobs.onSizeLessThan(1);
    if (failure !== undefined || context.stop.aborted) return;
    const job = await prepare();
    void jobs.add(() =>
      job.run().catch((error: unknown) => {
        failure ??= { error };
      }),
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
}

type Prepare = () => Promise<SpanJob>;

async function* rowJobs(context: WalkContext, missing: readonly Span[], meter: Meter): AsyncGenerator<Prepare> {
  for (const whole of missing) {
    for (let from = whole.from; from <= whole.to; from += CHUNK) {
      if (context.stop.aborted) return;
      const chunk = { from, to: Math.min(whole.to, from + CHUNK - 1) };
      const headers = await context.sink.headers({ from: chunk.from - 1, to: chunk.to + 1 });
      requireHeaders(context, chunk, headers);
      for (const span of planRowSpans(context, chunk, headers)) {
        yield () => rowJob(context, span, headers, meter);
      }
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
  const loader = new Loader(context.pipeline, (part) => context.sink.stage(context.pipeline.name, part));
  await loader.open(span, headersOf(span, headers));
  const asks = planRowAsks(context.mode, span, headers);
  return new SpanJob({ context, span, loader, proof: countProof(loader, headers), asks, meter });
}

async function* headerJobs(context: WalkContext, missing: readonly Span[], meter: Meter): AsyncGenerator<Prepare> {
  for (const whole of missing) {
    const size = context.mode === 'masterchain' ? Math.min(HEADER_SPAN, context.spanAsks) : HEADER_SPAN;
    let from = whole.from;
    while (from <= whole.to) {
      if (context.stop.aborted) return;
      // Where the index begins there is no state before: its first block is asked for by itself.
      const to = from === context.first ? from : Math.min(whole.to, from + size - 1);
      const span = { from, to };
      yield () => headerJob(context, span, meter);
      from = to + 1;
    }
  }
}

async function headerJob(context: WalkContext, span: Span, meter: Meter): Promise<SpanJob> {
  const { source, pipeline, mode } = context;
  const state = (seqno: number) => fetchShardState(source, seqno, `${pipeline.name} ${seqno}`);
  const before = span.from > context.first ? await state(span.from - 1) : undefined;
  const after = await state(span.to);
  const isWindowed =
    before !== undefined && (mode === 'window' || (mode === 'auto' && span.to - span.from >= FEW_BLOCKS));
  const asks: PageAsk[] = [];
  if (isWindowed) {
    const range = { from: (rangeOf(before)?.from ?? 0n) + 1n, to: greatestStart(after) };
    const count = countBetween(before, after);
    for (const window of planEvenWindows(range, count)) asks.push({ kind: 'window', window });
  } else {
    for (let seqno = span.from; seqno <= span.to; seqno++) asks.push(...pagesOfBlock(seqno, 0));
  }
  const loader = new Loader(pipeline, (part) => context.sink.stage(pipeline.name, part));
  await loader.open(span, []);
  const proof = linkProof({ span, before, after, source, pipeline: pipeline.name });
  return new SpanJob({ context, span, loader, proof, asks, meter });
}

function greatestStart(headers: readonly Header[]): bigint {
  return headers.reduce((most, { startLt }) => (startLt > most ? startLt : most), 0n);
}

/** About how many blocks lie between two states: shards count on, also through splits and merges. */
function countBetween(before: readonly Header[], after: readonly Header[]): number {
  const newest = (headers: readonly Header[], workchain: number): number =>
    headers.reduce((most, header) => (header.workchain === workchain && header.seqno > most ? header.seqno : most), 0);
  return after.reduce((sum, header) => {
    const same = before.find((other) => other.workchain === header.workchain && other.shard === header.shard);
    return sum + Math.max(0, header.seqno - (same?.seqno ?? newest(before, header.workchain)));
  }, 0);
}
