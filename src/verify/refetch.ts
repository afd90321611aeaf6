import { chainBounds, fetchEnds } from '../chain/index-ends.ts';
import type { Effects } from '../core/effects.ts';
import { WalkError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { isEphemeral, isMasterchain, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { collectParts, type StagedPart } from '../export/collect-parts.ts';
import { type ListRun, readAnew } from '../export/list-run.ts';
import { PageQueue } from '../export/page-queue.ts';
import { storeSink } from '../export/store-sink.ts';
import type { WalkContext, WalkEvent } from '../export/walk-context.ts';
import { walk } from '../export/walks/masterchain-walk.ts';
import { threadLoaders } from '../export/workers/loader-pool.ts';
import type { Source } from '../http/source.ts';
import { doneSpans, PARTIAL } from '../warehouse/ledger/done-spans.ts';
import type { Store } from '../warehouse/store.ts';
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
  readonly report: (event: WalkEvent) => void;
}

/**
 * Asks the source for spans again as their pipeline does it, and commits nothing.
 *
 * @throws {SourceError} when the source is away
 */
export function refetch(
  options: RefetchOptions,
  damage: Damage,
  spans: readonly Span[],
): Promise<readonly StagedPart[]> {
  const { pipeline } = damage;
  if (isMasterchain(pipeline)) return refetchCounted(options, damage, spans);
  if (isEphemeral(pipeline)) throw gone(pipeline, damage);
  return readAnew(listRun(options, damage, spans), spans);
}

async function refetchCounted(
  options: RefetchOptions,
  { pipeline }: Damage,
  spans: readonly Span[],
): Promise<readonly StagedPart[]> {
  const { store, source, registry, network, effects, stop, report } = options;
  const declared = registry.pipeline(pipeline.name);
  if (!isMasterchain(pipeline) || !isMasterchain(declared)) return [];
  const { sink, parts } = collectParts({ ...storeSink(store), ledger: () => [] });
  // Only headers need to know where the index begins.
  const isFirst = pipeline.walk.proof === 'links' && !isAfterOthers(store, pipeline.name, spans[0]?.from ?? 0);
  const context: WalkContext = {
    ...{ pipeline, declared, network, source, effects, stop, report, sink },
    first: isFirst ? (await fetchEnds(source)).first : 0,
    asks: new PageQueue(2 * (options.concurrency ?? 8)),
    loaders: threadLoaders((of, span) => store.stage(of, span)),
    ...{ mode: 'auto', requestsPerSpan: Number.MAX_SAFE_INTEGER },
  };
  for (const { span, error } of await walk(context, spans)) {
    const { code, message } = error;
    report({ event: 'problem', pipeline: pipeline.name, ...span, code, message });
  }
  return parts;
}

/** Whether blocks before this one are done: the index does not begin with it. */
function isAfterOthers(store: Store, headers: string, seqno: number): boolean {
  return (doneSpans(store.ledger(), headers)[0]?.from ?? seqno) < seqno;
}

function listRun(options: RefetchOptions, { pipeline, entries }: Damage, asked: readonly Span[]): ListRun {
  const { store, source, registry, network, effects, stop, report, waitMs } = options;
  const scope = entries[0]?.scope;
  return {
    ...{ pipeline, pipelines: [pipeline], registry, store, source, network, effects, stop, report, asked, waitMs },
    ...{ warehouse: store.path, chain: chainBounds(source), concurrency: options.concurrency ?? 8 },
    requestsPerSpan: Number.MAX_SAFE_INTEGER,
    // Keys that were given are those of the same query.
    from: scope === PARTIAL ? undefined : scope,
    history: false,
  };
}

function gone({ name }: PipelineDef, { span }: Damage): WalkError {
  const message = `walk ${name} ${span.from}:${span.to}: expected rows that can be asked for again, got those of a moment`;
  return new WalkError(message, { code: 'gone' });
}
