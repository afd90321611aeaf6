import { sessionBounds } from '../chain/index-ends.ts';
import type { IndexEnds } from '../chain/index-head.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import type { RangePart } from '../chain/range-part.ts';
import { isComing, reachedPieces } from '../chain/wait-for-blocks.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { usage, WalkError } from '../core/errors.ts';
import { type Span, shortSpans, subtractSpans } from '../core/span.ts';
import { coversBlocks, isMasterchain, type PipelineDef } from '../declare/pipeline.ts';
import { loadRegistry, type Registry } from '../declare/registry.ts';
import { selectFrom } from '../declare/selection.ts';
import { openSession, type Session } from '../http/session.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { type BatchOf, BatchQueue, noWarehouse } from './batch-queue.ts';
import { queryOf, requireGivenKeys } from './lookup-keys.ts';
import { planSpans } from './lt-windows.ts';
import { splitReachable } from './reachable-blocks.ts';
import { CHUNK_BLOCKS } from './row-packs.ts';
import type { RunOptions } from './run.ts';
import { type EngineContext, runContext } from './run-context.ts';
import { CONTENT } from './span-loader.ts';
import { walkAndRepair } from './walk-and-repair.ts';
import type { WalkEvent } from './walk-context.ts';
import { ownLoaders } from './workers/loader-pool.ts';

export type BatchOptions = Pick<
  RunOptions,
  | 'network'
  | 'range'
  | 'walk'
  | 'content'
  | 'rps'
  | 'concurrency'
  | 'waitMs'
  | 'effects'
  | 'env'
  | 'signal'
  | 'registry'
  | 'onEvent'
  | 'without'
  | 'columns'
  | 'withoutColumns'
> & {
  /** Any pipeline except those of pending data. Default `transactions`. */
  readonly pipeline?: string;
  /**
   * Select of the keys of a lookup, or of the parents of a list that is read parent by parent: there is no warehouse to take them from.
   * It runs in an empty DuckDB, which can read files: `SELECT account AS address FROM 'accounts.parquet'`.
   */
  readonly from?: string | undefined;
};

/**
 * Reads a range as Arrow batches, without a warehouse. The rows of a span come after they were proven: headers by their links,
 * transactions by the headers; keys are unique. Lists are not compared with transactions, which needs a warehouse. The walk waits while
 * the consumer is busy, and ends when it stops.
 *
 * @throws {UsageError} {SourceError} {DecodeError}, as `run`; after all good rows {WalkError} `incomplete` if others could not be
 * fetched, or `content` if some contradict their hashes
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<BatchOf> {
  const { effects = realEffects, registry = await loadRegistry() } = options;
  const name = options.pipeline ?? registry.playing('counted').pipeline.name;
  const parts = parseRange(options.range);
  const pipelines = pipelinesOf(registry, name, options);
  const own = pipelines.at(-1);
  if (own === undefined) return;
  const before = pipelines.slice(0, -1);
  requireGiven(own, options.from);
  const session = await openSession({ ...options, effects, command: 'tonlake readBatches' });
  const database = await EmptyDatabase.open(registry);
  const queue = new BatchQueue(effects.now, database.query);
  const stop = new AbortController();
  const missing: string[] = [];
  const contradicted: string[] = [];
  const report = (event: WalkEvent): void => {
    if (event.event === 'problem') (event.code === CONTENT ? contradicted : missing).push(event.message);
    if (event.event === 'quarantine') missing.push(`${event.seqno}: ${event.reason} at ${event.pointer}`);
    options.onEvent?.(event);
  };
  const reading = { options, effects, registry, session, queue, stop: stop.signal, report, own, before };
  const walking = (async () => {
    const asked = await walkAsked(reading, parts);
    const what = `walk ${name}: expected all of ${shortSpans(asked)}`;
    if (missing.length > 0) {
      throw new WalkError(`${what}, got only a part: ${firstOf(missing)}`, {
        code: 'incomplete',
        retryable: true,
        hint: 'the batches so far are complete; onEvent reports what is missing',
      });
    }
    if (contradicted.length === 0) return;
    throw new WalkError(`${what} with content that has its hashes, got other content: ${firstOf(contradicted)}`, {
      code: CONTENT,
      retryable: true,
      hint: 'the batches have all rows; onEvent reports the blocks whose content is not proven',
    });
  })();
  try {
    yield* queue.batches(walking);
  } finally {
    stop.abort();
    await walking.catch(() => undefined);
    await database.close();
    await session.close();
  }
}

function firstOf(problems: readonly string[]): string {
  return `${problems[0]}${problems.length === 1 ? '' : `, and ${problems.length - 1} more like it`}`;
}

/** Maximum of requests per span, so that rows come soon. */
const SPAN_REQUESTS = 20;

/** Everything that a reading needs. */
interface BatchReading {
  readonly options: BatchOptions;
  readonly effects: Effects;
  readonly registry: Registry;
  readonly session: Session;
  readonly queue: BatchQueue;
  readonly stop: AbortSignal;
  readonly report: (event: WalkEvent) => void;
  /** The pipeline that is read, and those of the headers that count its rows. */
  readonly own: PipelineDef;
  readonly before: readonly PipelineDef[];
}

/** The pipeline that is read, last, after those of its headers. Other pipelines that it needs are for a warehouse. */
function pipelinesOf(registry: Registry, name: string, options: BatchOptions): readonly PipelineDef[] {
  const all = registry.toRun([name]);
  const own = all.at(-1);
  const wanted = own !== undefined && isMasterchain(own) ? all : all.slice(-1);
  return selectFrom(wanted, options);
}

/** @throws {UsageError} if keys or parents would have to come from a warehouse */
function requireGiven(own: PipelineDef, from: string | undefined): void {
  if (queryOf(own) === undefined || from !== undefined) return;
  throw usage(
    'the option from, a query of its keys',
    'none',
    'there is no warehouse to take keys from; an export to one takes them from its tables',
    { of: own.name },
  );
}

/** @returns the requested blocks */
async function walkAsked(reading: BatchReading, parts: readonly RangePart[]): Promise<readonly Span[]> {
  const { options, effects, session, stop, report, own, queue, registry } = reading;
  const chain = sessionBounds(session, effects);
  const asked = await resolveRange(parts, chain);
  if (options.from !== undefined) {
    const sink = queue.sink(true);
    await requireGivenKeys({ pipeline: own, pipelines: [own], registry, asked, sink }, options.from, []);
  }
  const ends = await chain.ends();
  if (!coversBlocks(own)) {
    await walkAndRepair(contextOf(reading, own, asked, ends), { missing: asked, again: [] });
    return asked;
  }
  let [rest, waitMs, last] = [asked, options.waitMs, ends];
  if (isComing(parts)) {
    for await (const piece of reachedPieces({ requested: asked, source: session.source, effects, stop, waitMs })) {
      await walkPieces(reading, splitReachable(own, piece.spans, piece.ends, 0, report), piece.ends);
      [rest, last] = [subtractSpans(rest, piece.spans), piece.ends];
    }
    waitMs = 0;
  }
  await walkPieces(reading, splitReachable(own, rest, last, waitMs, report), last);
  return asked;
}

/** Walks in pieces, so that few headers are in memory and rows come soon. */
async function walkPieces(reading: BatchReading, reachable: readonly Span[], ends: IndexEnds): Promise<void> {
  const { stop, own, before, queue } = reading;
  const contexts = [...before, own].map((pipeline) => contextOf(reading, pipeline, reachable, ends));
  for (const piece of planSpans(reachable, () => 0, { records: Number.POSITIVE_INFINITY, seqnos: CHUNK_BLOCKS })) {
    for (const context of contexts) {
      const isCounted = context.pipeline === own && before.length > 0;
      const missing = isCounted ? queue.spansOf(piece) : [piece];
      if (!stop.aborted) await walkAndRepair(context, { missing, again: [] });
    }
  }
}

function contextOf(
  { options, effects, registry, session, queue, stop, report, own }: BatchReading,
  pipeline: PipelineDef,
  asked: readonly Span[],
  ends: IndexEnds,
): EngineContext {
  const sink = queue.sink(pipeline === own);
  const context = runContext({
    options: { ...options, stop, commitEveryMs: 0 },
    session,
    effects,
    registry,
    pipelines: [pipeline],
    asked,
    sink,
    report,
    from: options.from,
    requestsPerSpan: SPAN_REQUESTS,
    // Rows stay in memory until they are handed out, so flushing them would save nothing.
    loaders: ownLoaders({ stage: sink.stage, scratch: noWarehouse }, Number.POSITIVE_INFINITY),
  });
  return { ...context, pipeline, ends };
}
