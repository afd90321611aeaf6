import { sessionBounds } from '../chain/index-ends.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { isComing, reachedPieces } from '../chain/wait-for-blocks.ts';
import { realEffects } from '../core/effects.ts';
import { WalkError } from '../core/errors.ts';
import { type Span, shortSpans, subtractSpans } from '../core/span.ts';
import { loadRegistry } from '../declare/registry.ts';
import { selectFrom } from '../declare/selection.ts';
import { openSession } from '../http/session.ts';
import { type BatchOf, BatchQueue } from './batch-queue.ts';
import { planSpans } from './lt-windows.ts';
import { PageQueue } from './page-queue.ts';
import { requireMasterchain } from './page-request.ts';
import { splitReachable } from './reachable-blocks.ts';
import type { RunOptions } from './run.ts';
import { walkAndRepair } from './walk-and-repair.ts';
import type { WalkContext, WalkEvent } from './walk-context.ts';
import { HEADER_SPAN } from './walks/masterchain-walk.ts';
import { threadLoaders } from './workers/loader-pool.ts';

export type BatchOptions = Pick<
  RunOptions,
  | 'network'
  | 'range'
  | 'walk'
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
  /** Default `transactions`. */
  readonly pipeline?: string;
};

/**
 * Walks a range and hands out its rows as Arrow batches, without a warehouse. The rows of a span come only after they were
 * compared with the block headers; the walk waits while the consumer is busy, and stops when it stops.
 *
 * @throws {UsageError} {SourceError} {DecodeError}, as `run`; {WalkError} `incomplete` at the end, after all sound rows, when others
 * could not be had
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<BatchOf> {
  const { effects = realEffects, registry = await loadRegistry(), pipeline: name = 'transactions' } = options;
  const parts = parseRange(options.range);
  const pipelines = selectFrom(registry.inOrder([name]), options);
  const session = await openSession({ ...options, effects, command: 'tonlake readBatches' });
  const queue = new BatchQueue(effects.now);
  const stop = new AbortController();
  const asks = new PageQueue(2 * (options.concurrency ?? 8));
  const walking = (async () => {
    const chain = sessionBounds(session, effects);
    const asked = await resolveRange(parts, chain);
    const ends = await chain.ends();
    const missing: string[] = [];
    const report = (event: WalkEvent): void => {
      if (event.event === 'problem') missing.push(event.message);
      if (event.event === 'quarantine') missing.push(`${event.seqno}: ${event.reason} at ${event.pointer}`);
      options.onEvent?.(event);
    };
    const own = requireMasterchain(registry.pipeline(name));
    const contexts = pipelines.map((each): WalkContext => {
      const pipeline = requireMasterchain(each);
      const declared = requireMasterchain(registry.pipeline(pipeline.name));
      const sink = queue.sink(pipeline.name === name);
      return {
        ...{ pipeline, declared, network: session.network, source: session.source, effects, stop: stop.signal, report },
        ...{ sink, first: ends.first, loaders: threadLoaders((of, span) => sink.stage(of, span)) },
        ...{ mode: options.walk ?? 'auto', asks, requestsPerSpan: 20 },
      };
    });
    const limits = { records: Number.POSITIVE_INFINITY, seqnos: HEADER_SPAN };
    const walkSpans = async (reachable: readonly Span[]): Promise<void> => {
      // Piece by piece, so that headers do not pile up, and rows come soon.
      for (const piece of planSpans(reachable, () => 0, limits)) {
        for (const context of contexts) {
          const isCounted = context.pipeline.needs.length > 0;
          if (!stop.signal.aborted) await walkAndRepair([context], isCounted ? queue.spansOf(piece) : [piece]);
        }
      }
    };
    let [rest, waitMs, last] = [asked, options.waitMs, ends];
    if (isComing(parts)) {
      const coming = { asked, source: session.source, effects, stop: stop.signal, waitMs };
      for await (const piece of reachedPieces(coming)) {
        await walkSpans(splitReachable(own, piece.spans, piece.ends, 0, report));
        [rest, last] = [subtractSpans(rest, piece.spans), piece.ends];
      }
      waitMs = 0;
    }
    await walkSpans(splitReachable(own, rest, last, waitMs, report));
    if (missing.length === 0) return;
    const more = missing.length === 1 ? '' : `, and ${missing.length - 1} more like it`;
    throw new WalkError(`walk ${name}: expected all of ${shortSpans(asked)}, got a part: ${missing[0]}${more}`, {
      code: 'incomplete',
      retryable: true,
      hint: 'the batches before are sound; onEvent tells what is missing',
    });
  })();
  walking.then(
    () => queue.end(undefined),
    (error: unknown) => queue.end({ error }),
  );
  try {
    for (let next = await queue.take(); next !== undefined; next = await queue.take()) yield next;
  } finally {
    stop.abort();
    queue.close();
    await walking.catch(() => undefined);
    await session.close();
  }
}
