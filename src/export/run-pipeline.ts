import type { IndexEnds, IndexHead } from '../chain/index-head.ts';
import { isCommittedMeanwhile, isMergedMeanwhile } from '../core/errors.ts';
import {
  haveCommon,
  intersectSpans,
  type Span,
  shortSpans,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../core/span.ts';
import { coversBlocks, isFinal, isMasterchain, lookBackOf, type PipelineDef, proofOf } from '../declare/pipeline.ts';
import {
  doneFor,
  doneSpans,
  type LedgerEntry,
  narrowerEntries,
  PARTIAL,
  requireSpace,
  spansOf,
} from '../warehouse/index.ts';
import type { HeadCheck } from './finality.ts';
import { queryOf, requireColumnsOfSources, requireKeys } from './lookup-keys.ts';
import { splitReachable } from './reachable-blocks.ts';
import { bytesOfRow } from './row-bytes.ts';
import type { EngineContext, RunContext } from './run-context.ts';
import { walkAndRepair, widenEntry } from './walk-and-repair.ts';
import type { SpanSink, WalkEvent } from './walk-context.ts';

/** A run of one pipeline. */
export interface PipelineRun extends RunContext {
  readonly pipeline: PipelineDef;
}

/** The index that a run reads. */
export interface RunChain {
  readonly ends: () => Promise<IndexHead>;
  /** The current ends of the index, read before rows that can change. */
  readonly newest: () => Promise<IndexHead>;
  readonly heads: HeadCheck;
  /** Compares the proven blocks with the source, before rows are requested. @throws {WalkError} if they differ */
  readonly requireSame?: ((ends: IndexEnds) => Promise<void>) | undefined;
}

/** Attempts while other writers, or merges, commit the same blocks. */
const RIVAL_ATTEMPTS = 20;

/** Exports the missing blocks of one pipeline, and reads again those that were not final. Starts over after a conflict with another writer. */
export async function runPipeline(run: PipelineRun, chain: RunChain): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    let isRivalled = false;
    const report: PipelineRun['report'] = (event) => {
      isRivalled ||= event.event === 'rival';
      run.report(event);
    };
    try {
      await runOnce({ ...run, report }, chain);
    } catch (error) {
      const isOutrun = isCommittedMeanwhile(error) || isMergedMeanwhile(error);
      if (!isOutrun || attempt === RIVAL_ATTEMPTS) throw error;
      isRivalled = true;
    }
    if (!isRivalled || attempt === RIVAL_ATTEMPTS || run.stop.aborted) return;
  }
}

async function runOnce(run: PipelineRun, chain: RunChain): Promise<void> {
  const { pipeline, report, sink, stop } = run;
  const partial = sink.ledger().filter((entry) => isPartial(pipeline, entry));
  // Partial entries are read again completely.
  const missing = subtractSpans(missingSpans(run), partial.flatMap(spansOf));
  const isLive = isReadAgain(run);
  if (missing.length === 0 && !isLive && partial.length === 0) return reportSkipped(run, report);
  await requireSources(run);
  const isFresh = isLive || partial.length > 0 || pipeline.walk.kind === 'lookup';
  const ends = isFresh ? await chain.newest() : await chain.ends();
  const narrower = coversBlocks(pipeline) ? narrowerEntries(sink.ledger(), pipeline, missing) : [];
  const again = outdated(run, ends.last).filter((entry) => !narrower.includes(entry));
  if (missing.length === 0 && again.length === 0 && run.from === undefined) return reportSkipped(run, report);
  await chain.requireSame?.(ends);
  const reachable = coversBlocks(pipeline) ? splitReachable(pipeline, missing, ends, run.waitMs, report) : missing;
  await chain.heads.require(run, [...reachable, ...[...narrower, ...again].flatMap(spansOf)], ends);
  await announce(run, reachable);
  const context: EngineContext = { ...run, ends };
  for (const entry of narrower) {
    if (stop.aborted) return;
    await widenEntry(context, entry);
  }
  const rest = subtractSpans(reachable, unionSpans(narrower.flatMap(spansOf)));
  await walkAndRepair(context, { missing: rest, again });
}

/** True if a done range may be read again: its rows change, or the user gave the keys. */
function isReadAgain({ pipeline, from }: PipelineRun): boolean {
  return pipeline.walk.kind === 'snapshot' || lookBackOf(pipeline) > 0 || from !== undefined;
}

/** @throws {UsageError} if the keys, or parents, cannot be found */
async function requireSources(run: PipelineRun): Promise<void> {
  const { walk } = run.pipeline;
  const query = run.from ?? queryOf(run.pipeline);
  if (query === undefined) return;
  if (walk.kind === 'lookup') await requireKeys(run, walk, query);
  else await requireColumnsOfSources(run, query);
}

/** Free bytes required per planned byte: files are staged, and the size of rows varies. */
const ROOM = 1.3;

/** Reports the start. @throws {StoreError} if there is no room for the rows */
async function announce(run: PipelineRun, missing: readonly Span[]): Promise<void> {
  const { pipeline, registry, sink, asked, report, warehouse } = run;
  const isCounted = proofOf(pipeline) === 'tx_count';
  const records = isCounted ? await sink.txCount?.(missing) : undefined;
  const seqnos = totalSize(missing);
  report({ event: 'start', pipeline: pipeline.name, asked, missing, seqnos, records });
  if (warehouse === undefined) return;
  const bytes = bytesOfRow(registry.pipeline(pipeline.name), pipeline, sink.ledger());
  await requireSpace(warehouse, pipeline.name, (records ?? seqnos) * bytes * ROOM);
}

/** True for an entry whose rows are known to be wrong, so that it is read again completely. Headers replace such rows block by block. */
function isPartial(own: PipelineDef, { pipeline, verdict, scope }: LedgerEntry): boolean {
  const isList = coversBlocks(own) && !isMasterchain(own);
  return isList && pipeline === own.name && verdict === 'accepted' && scope === PARTIAL;
}

/** Entries in the range whose rows may have changed, or are known to be wrong. */
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

/** One pipeline of a run. */
interface Needing {
  readonly pipeline: PipelineDef;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly sink: Pick<SpanSink, 'ledger'>;
  readonly asked: readonly Span[];
}

/** Requested blocks that are not done; if a pipeline needs others, only blocks that those have. */
function missingSpans(run: Needing): readonly Span[] {
  const { pipeline, sink, asked } = run;
  const ledger = sink.ledger();
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return neededBy(run).reduce((spans, { name }) => intersectSpans(spans, doneSpans(ledger, name)), missing);
}

/** Reports that no missing block can be read, because the pipelines that this one needs lack them. */
function reportSkipped(run: Needing, report: (event: WalkEvent) => void): void {
  const { pipeline, sink, asked } = run;
  const ledger = sink.ledger();
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  const [first] = missing;
  const last = missing.at(-1);
  if (first === undefined || last === undefined) return;
  const lacking = neededBy(run).filter(({ name }) => subtractSpans(missing, doneSpans(ledger, name)).length > 0);
  const names = lacking.map(({ name }) => name).join(' and ');
  const message = `walk ${pipeline.name} ${shortSpans(missing)}: skipped, because ${names} ${lacking.length === 1 ? 'is' : 'are'} not done there`;
  report({ event: 'problem', pipeline: pipeline.name, from: first.from, to: last.to, code: 'need-not-done', message });
}

function neededBy({ pipeline, pipelines }: Needing): readonly PipelineDef[] {
  return pipelines.filter(({ name }) => pipeline.needs.includes(name));
}
