import { fetchEnds, type IndexEnds } from '../chain/index-ends.ts';
import { haveCommon, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { coversBlocks, isFinal, isMasterchain, type PipelineDef, proofOf } from '../declare/pipeline.ts';
import { type LedgerEntry, narrowerEntries, PARTIAL, requireSpace, spansOf } from '../warehouse/index.ts';
import { requireColumnsOfSources, requireKeys } from './lookup-keys.ts';
import { missingSpans, tellSkipped } from './missing-spans.ts';
import { splitReachable } from './reachable-blocks.ts';
import { countPromised } from './store-sink.ts';
import { walkAndRepair, widenEntry } from './walk-and-repair.ts';
import type { EngineContext } from './walk-context.ts';

/** A run of one pipeline. */
export interface PipelineRun extends Omit<EngineContext, 'declared' | 'ends'> {
  readonly warehouse: string;
  readonly chain: { readonly ends: () => Promise<IndexEnds> };
  readonly waitMs: number | undefined;
}

/** Brings in what is asked of one pipeline and not done, and reads again what was not final. */
export async function bringIn(run: PipelineRun): Promise<void> {
  const { pipeline, registry, report, asked, sink, stop } = run;
  const partial = sink.ledger().filter((entry) => isPartial(pipeline, entry));
  // What is read again as a whole is left to that.
  const missing = subtractSpans(missingSpans(run), partial.flatMap(spansOf));
  const isLive = isReadAgain(run);
  if (missing.length === 0 && !isLive && partial.length === 0) return tellSkipped(run, report);
  await requireSources(run);
  const isFresh = isLive || partial.length > 0 || pipeline.walk.kind === 'lookup';
  const ends = isFresh ? await fetchEnds(run.source) : await run.chain.ends();
  const narrower = coversBlocks(pipeline) ? narrowerEntries(sink.ledger(), pipeline, missing) : [];
  const again = outdated(run, ends.last).filter((entry) => !narrower.includes(entry));
  if (missing.length === 0 && again.length === 0 && run.from === undefined) return tellSkipped(run, report);
  const reachable = coversBlocks(pipeline) ? splitReachable(pipeline, missing, ends, run.waitMs, report) : missing;
  await announce(run, reachable);
  const context: EngineContext = { ...run, declared: registry.pipeline(pipeline.name), ends };
  for (const entry of narrower) {
    if (stop.aborted) return;
    await widenEntry(context, entry);
  }
  const rest = subtractSpans(reachable, unionSpans(narrower.flatMap(spansOf)));
  await walkAndRepair({ ...context, asked }, { missing: rest, again });
}

/** Whether a done range may be read again: rows that change, or keys that somebody gives. */
function isReadAgain({ pipeline: { walk }, from }: PipelineRun): boolean {
  return walk.kind === 'snapshot' || ('lookBack' in walk && walk.lookBack > 0) || from !== undefined;
}

/** Refuses keys, or parents, that cannot be found. @throws {UsageError} */
async function requireSources(run: PipelineRun): Promise<void> {
  const { walk } = run.pipeline;
  if (walk.kind === 'lookup') await requireKeys(run, walk, run.from ?? walk.query);
  if (walk.kind === 'snapshot' && walk.parents !== undefined) {
    await requireColumnsOfSources(run, run.from ?? walk.parents.query);
  }
}

/** Tells what begins. @throws {StoreError} when there is no room for it */
async function announce(run: PipelineRun, missing: readonly Span[]): Promise<void> {
  const { pipeline, sink, asked, report, warehouse } = run;
  const isCounted = proofOf(pipeline) === 'tx_count';
  const records = isCounted ? await countPromised(sink.query, missing) : undefined;
  const seqnos = totalSize(missing);
  report({ event: 'start', pipeline: pipeline.name, asked, missing, seqnos, records });
  await requireSpace(warehouse, pipeline, records ?? seqnos);
}

/**
 * Whether an entry of a list of blocks is to be read again as a whole, because its rows are known to be wrong. Rows that headers count
 * are brought in like missing ones, and take its place.
 */
function isPartial(own: PipelineDef, { pipeline, verdict, scope }: LedgerEntry): boolean {
  const isList = coversBlocks(own) && !isMasterchain(own);
  return isList && pipeline === own.name && verdict === 'sealed' && scope === PARTIAL;
}

/** Entries in the asked range whose rows may be others now, or are known to be wrong. */
function outdated({ pipeline, sink, asked }: PipelineRun, head: number): readonly LedgerEntry[] {
  const { walk, name } = pipeline;
  return sink.ledger().filter((entry) => {
    const { pipeline: of, asOf, scope } = entry;
    if (isPartial(pipeline, entry)) return haveCommon(spansOf(entry), asked);
    if (of !== name || scope !== undefined || asOf === undefined || asOf.from >= head) return false;
    if (walk.kind === 'snapshot') return true;
    if (!('lookBack' in walk) || !haveCommon(spansOf(entry), asked)) return false;
    return !isFinal(walk, entry);
  });
}
