import { fetchEnds } from '../chain/index-head.ts';
import type { Effects } from '../core/effects.ts';
import { WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { isEphemeral, isMasterchain, type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { HeadCheck } from '../export/finality.ts';
import { type EngineContext, runContext } from '../export/run-context.ts';
import { storeSink } from '../export/store-sink.ts';
import { fetchStaged } from '../export/walk-and-repair.ts';
import type { WalkEvent } from '../export/walk-context.ts';
import { walkKindOf } from '../export/walk-kinds.ts';
import { ownLoaders } from '../export/workers/loader-pool.ts';
import type { Source } from '../http/source.ts';
import { type CommitPart, doneSpans, PARTIAL, type Store } from '../warehouse/index.ts';
import type { Damage } from './plan-repair.ts';

export interface RefetchOptions {
  readonly store: Store;
  readonly source: Source;
  readonly network: string;
  readonly registry: Registry;
  readonly effects: Effects;
  readonly concurrency: number | undefined;
  readonly waitMs: number | undefined;
  readonly stop: AbortSignal;
  readonly heads: HeadCheck;
  readonly report: (event: WalkEvent) => void;
}

/**
 * Fetches spans again with the walk of their pipeline. Commits nothing.
 *
 * @throws {SourceError} if the source is unavailable; the signal's reason if it was stopped
 */
export async function refetch(
  options: RefetchOptions,
  damage: Damage,
  spans: readonly Span[],
): Promise<readonly CommitPart[]> {
  const { pipeline } = damage;
  if (isEphemeral(pipeline)) throw gone(pipeline, damage);
  walkKindOf(options.registry, pipeline);
  const parts = await fetchStaged(await contextOf(options, damage, spans), spans);
  // After a stop, spans that were not requested have not failed.
  options.stop.throwIfAborted();
  return parts;
}

async function contextOf(
  options: RefetchOptions,
  { pipeline, entries }: Damage,
  spans: readonly Span[],
): Promise<EngineContext> {
  const { store, source, registry, network, effects, concurrency, waitMs, stop, report } = options;
  const scope = entries[0]?.scope;
  const sink = storeSink(store, registry);
  const context = runContext({
    ...{ session: { network, source }, options: { concurrency, waitMs, stop, commitEveryMs: 0 } },
    ...{ effects, registry, pipelines: [pipeline], asked: spans, report, loaders: ownLoaders(store) },
    // Rows that may be damaged must not prove headers.
    sink: isMasterchain(pipeline) ? { ...sink, ledger: () => [] } : sink,
    requestsPerSpan: Number.MAX_SAFE_INTEGER,
    // The scope of an entry with given keys is their query.
    from: scope === PARTIAL ? undefined : scope,
  });
  if (isAfterFirst(store, pipeline, spans)) return { ...context, pipeline, ends: { first: 0, last: 0 } };
  const ends = await fetchEnds(source);
  await options.heads.require({ ...context, pipeline }, spans, ends);
  return { ...context, pipeline, ends };
}

/** True if the walk does not need the ends of the index: headers count its rows, or its headers follow others. */
function isAfterFirst(store: Store, pipeline: PipelineDef, spans: readonly Span[]): boolean {
  const proof = proofOf(pipeline);
  const from = spans[0]?.from ?? 0;
  return (
    proof === 'tx_count' || (proof === 'links' && (doneSpans(store.ledger(), pipeline.name)[0]?.from ?? from) < from)
  );
}

function gone({ name }: PipelineDef, { span }: Damage): WalkError {
  const message = `walk ${name} ${span.from}:${span.to}: expected rows that can be fetched again, got those of a past moment`;
  return new WalkError(message, { code: 'gone' });
}
