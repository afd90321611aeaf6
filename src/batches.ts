import { type BatchOf, BatchQueue } from './batchqueue.ts';
import { realEffects } from './effects.ts';
import { loadRegistry } from './registry.ts';
import type { RunOptions } from './run.ts';
import { openSession } from './session.ts';
import { requireMasterchain } from './walk/ask.ts';
import { chainBounds } from './walk/chain.ts';
import type { WalkContext } from './walk/context.ts';
import { walkAndMend } from './walk/mend.ts';
import { PageQueue } from './walk/pagequeue.ts';
import { threadLoaders } from './walk/pool.ts';
import { parseRange, resolveRange } from './walk/range.ts';
import { splitReachable } from './walk/reach.ts';

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
> & {
  /** Default `transactions`. */
  readonly pipeline?: string;
};

/**
 * Walks a range and hands out its rows as Arrow batches, without a warehouse. The rows of a span come only after they were
 * compared with the block headers; the walk waits while the consumer is busy, and stops when it stops.
 *
 * @throws {UsageError} {SourceError} {DecodeError}, as `run`
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<BatchOf> {
  const { effects = realEffects, registry = await loadRegistry(), pipeline: name = 'transactions' } = options;
  const parts = parseRange(options.range);
  const session = await openSession({ ...options, effects });
  const queue = new BatchQueue(effects.now);
  const stop = new AbortController();
  const asks = new PageQueue(2 * (options.concurrency ?? 8));
  const walking = (async () => {
    const chain = chainBounds(session.source);
    const asked = await resolveRange(parts, chain);
    const ends = await chain.ends();
    for (const pipeline of registry.inOrder([name]).map(requireMasterchain)) {
      const sink = queue.sink(pipeline.name === name);
      const context: WalkContext = {
        ...{ pipeline, network: session.network, source: session.source, effects, stop: stop.signal },
        ...{ sink, first: ends.first, loaders: threadLoaders((of, span) => sink.stage(of, span)) },
        ...{ mode: options.walk ?? 'auto', asks, spanAsks: 20, replaces: [] },
        report: (event) => options.onEvent?.(event),
      };
      const reachable = splitReachable(pipeline, asked, ends, options.waitMs, context.report);
      await walkAndMend([context], reachable);
    }
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
