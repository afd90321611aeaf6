import { fetchEnds, type IndexEnds } from '../chain/index-ends.ts';
import type { Effects } from '../core/effects.ts';
import { haveCommon, intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { isFinal, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { Source } from '../http/source.ts';
import { narrowerEntries, PARTIAL, spansOf } from '../warehouse/ledger/done-spans.ts';
import { requireSpace } from '../warehouse/staging/free-space.ts';
import type { LedgerEntry, Store } from '../warehouse/store.ts';
import { collectStore, type StagedPart } from './collect-parts.ts';
import { requireColumnsOfSources, requireKeys } from './lookup-keys.ts';
import { missingSpans, tellSkipped } from './missing-spans.ts';
import { splitReachable } from './reachable-blocks.ts';
import { RequestMeter } from './request-meter.ts';
import type { WalkEvent } from './walk-context.ts';
import { walkBlocks } from './walks/block-walk.ts';
import { walkKeys } from './walks/lookup-walk.ts';
import { walkLt } from './walks/lt-walk.ts';
import { walkSnapshot } from './walks/snapshot-walk.ts';
import { replaceWithWider, widened } from './widen-entry.ts';

/** A run of one pipeline whose rows no header counts. */
export interface ListRun {
  readonly pipeline: PipelineDef;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly registry: Registry;
  readonly store: Store;
  readonly warehouse: string;
  readonly network: string;
  readonly source: Source;
  readonly effects: Effects;
  readonly stop: AbortSignal;
  readonly asked: readonly Span[];
  readonly chain: { readonly ends: () => Promise<IndexEnds> };
  readonly concurrency: number;
  /** Most requests of one span: bounds what a kill can cost. */
  readonly requestsPerSpan: number;
  readonly waitMs: number | undefined;
  /** A query of keys instead of the declared one. */
  readonly from: string | undefined;
  /** Whether readings of lists that change are kept. */
  readonly history: boolean;
  readonly report: (event: WalkEvent) => void;
}

/** What the walks over lists work with. */
export interface ListContext extends ListRun {
  /** First and newest block when the walk began. */
  readonly ends: IndexEnds;
  readonly meter: RequestMeter;
}

/** Blocks to bring in, and entries that are read again because their rows could still change when they were read. */
export interface Due {
  readonly missing: readonly Span[];
  readonly again: readonly LedgerEntry[];
}

/** Brings the asked range of one pipeline in, as its kind of walk does it. */
export async function walkList(run: ListRun): Promise<void> {
  const { pipeline, report, asked, waitMs } = run;
  const { walk } = pipeline;
  const partial = run.store.ledger().filter((entry) => isPartial(pipeline, entry));
  // What is read again as a whole is left to that.
  const missing = subtractSpans(missingSpans(run), partial.flatMap(spansOf));
  const narrower =
    walk.kind === 'block' || walk.kind === 'lt' ? narrowerEntries(run.store.ledger(), pipeline, missing) : [];
  const isLive = walk.kind === 'snapshot' || ('lookBack' in walk && walk.lookBack > 0) || run.from !== undefined;
  if (missing.length === 0 && !isLive && partial.length === 0) return tellSkipped(run, report);
  if (walk.kind === 'lookup') await requireKeys(run, walk, run.from ?? walk.query);
  if (walk.kind === 'snapshot' && walk.parents !== undefined) {
    await requireColumnsOfSources(run, run.from ?? walk.parents.query);
  }
  const ends =
    isLive || partial.length > 0 || walk.kind === 'lookup' ? await fetchEnds(run.source) : await run.chain.ends();
  const again = outdated(run, ends.last).filter((entry) => !narrower.includes(entry));
  if (missing.length === 0 && again.length === 0 && run.from === undefined) return tellSkipped(run, report);
  const isOfBlocks = walk.kind === 'block' || walk.kind === 'lt';
  const reachable = isOfBlocks ? splitReachable(pipeline, missing, ends, waitMs, report) : missing;
  const seqnos = totalSize(reachable);
  report({ event: 'start', pipeline: pipeline.name, asked, missing: reachable, seqnos, records: undefined });
  await requireSpace(run.warehouse, pipeline, seqnos);
  const context: ListContext = { ...run, ends, meter: new RequestMeter(run.source) };
  await widenEach(context, narrower);
  await walkKind(context, { missing: subtractSpans(reachable, unionSpans(narrower.flatMap(spansOf))), again });
}

async function walkKind(context: ListContext, due: Due): Promise<void> {
  const { walk } = context.pipeline;
  switch (walk.kind) {
    case 'block':
      return walkBlocks(context, walk, due);
    case 'lt':
      return walkLt(context, walk, due);
    case 'snapshot':
      return walkSnapshot(context, walk);
    case 'lookup':
      return walkKeys(context, walk, due.missing);
    case 'masterchain':
    case 'ephemeral':
      return;
  }
}

/**
 * Reads spans again that the warehouse may hold, and commits nothing.
 *
 * @returns what came, staged; parts that are not whole say so in their scope or verdict
 */
export async function readAnew(run: ListRun, spans: readonly Span[]): Promise<readonly StagedPart[]> {
  const { store, parts } = collectStore(run.store, run.pipeline.name);
  const ends = await fetchEnds(run.source);
  const context: ListContext = { ...run, store, asked: spans, ends, meter: new RequestMeter(run.source) };
  await walkKind(context, { missing: spans, again: [] });
  return parts;
}

/** Reads the spans of entries again for columns that they lack, each in a commit of its own. */
async function widenEach(context: ListContext, entries: readonly LedgerEntry[]): Promise<void> {
  const { store, stop, report } = context;
  for (const entry of entries) {
    if (stop.aborted) return;
    const { pipeline } = widenedContext(context, entry);
    const reportOwn = (event: WalkEvent): void => {
      if (event.event !== 'span') report(event);
    };
    const parts = await readAnew({ ...context, pipeline, report: reportOwn }, spansOf(entry));
    if (stop.aborted) return;
    const commit: Store['commit'] = (staged, draft) => store.commit(staged, draft);
    await replaceWithWider({ pipeline, entry, parts, commit, report });
  }
}

/** What reads an entry again, with every column that it has or that the run asks for. */
export function widenedContext(context: ListContext, entry: LedgerEntry): ListContext {
  const { registry, pipeline } = context;
  return { ...context, pipeline: widened(registry.pipeline(pipeline.name), pipeline.leftOut, entry) };
}

/** Whether an entry of a walk over blocks is to be read again as a whole, because its rows are known to be wrong. */
function isPartial({ name, walk }: PipelineDef, { pipeline, verdict, scope }: LedgerEntry): boolean {
  const isOfBlocks = walk.kind === 'block' || walk.kind === 'lt';
  return isOfBlocks && pipeline === name && verdict === 'sealed' && scope === PARTIAL;
}

/** Entries in the asked range whose rows may be others now, or are known to be wrong. */
function outdated({ pipeline, store, asked }: ListRun, head: number): readonly LedgerEntry[] {
  const { walk, name } = pipeline;
  return store.ledger().filter((entry) => {
    const { pipeline: of, asOf, scope } = entry;
    if (isPartial(pipeline, entry)) return haveCommon(spansOf(entry), asked);
    if (of !== name || scope !== undefined || asOf === undefined || asOf.from >= head) return false;
    if (walk.kind === 'snapshot') return true;
    if (!('lookBack' in walk) || !haveCommon(spansOf(entry), asked)) return false;
    return !isFinal(walk, entry);
  });
}

/** Cuts spans where the rows stop being final, so that only the last part is read again. */
export function cutAtFinal(spans: readonly Span[], lookBack: number, head: number): readonly Span[] {
  const final = head - lookBack;
  const isCut = lookBack > 0 && spans.some(({ from, to }) => from <= final && to > final);
  if (!isCut) return unionSpans(spans);
  return [
    ...intersectSpans(spans, [{ from: 0, to: final }]),
    ...intersectSpans(spans, [{ from: final + 1, to: Number.MAX_SAFE_INTEGER }]),
  ];
}
