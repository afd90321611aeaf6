import { sessionBounds } from '../chain/index-ends.ts';
import { fetchEnds } from '../chain/index-head.ts';
import { parseRange } from '../chain/range.ts';
import { isComing, reachedPieces } from '../chain/wait-for-blocks.ts';
import { realEffects } from '../core/effects.ts';
import { type Span, subtractSpans, totalSize } from '../core/span.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';
import { closeAll } from '../files/file-failure.ts';
import { openSession } from '../http/session.ts';
import { doneFor, doneSpans, type Store } from '../warehouse/index.ts';
import type { UnprovenBlocks } from '../warehouse/query/coverage.ts';
import { CommitSteps } from './commit-steps.ts';
import { HeadCheck } from './finality.ts';
import { requireGivenKeys, requireKeyColumns } from './lookup-keys.ts';
import { choosePipelines, type ExportOptions, failureOf, type OpenExport, openExportStore } from './open-export.ts';
import { ProvenChain } from './proven-chain.ts';
import { splitReachable } from './reachable-blocks.ts';
import { requireSliceable, resolveRequested } from './requested-blocks.ts';
import { type RunContext, runContext } from './run-context.ts';
import { type RunChain, runPipeline } from './run-pipeline.ts';
import { RunTally } from './run-tally.ts';
import { storeSink } from './store-sink.ts';
import type { WalkEvent } from './walk-context.ts';
import type { WitnessCounts } from './witness.ts';
import { openLoaders } from './workers/loader-pool.ts';

export interface RunOptions extends ExportOptions {
  /** Masterchain blocks, both ends inclusive: `47670000:47671000`, `-1000:`, `2026-05-01`; see `parseRange`. */
  readonly range: string;
  /**
   * One of several slices of the range, such as `3/16`, for as many machines. They are disjoint, make up the range, and are the same on every
   * machine, so the range must have fixed ends. Default: the whole range.
   */
  readonly slice?: string | undefined;
  /** Query of the keys of a lookup, instead of the declared one; its columns are named like the parameters. */
  readonly from?: string | undefined;
  /** Keeps earlier readings of changing lists instead of replacing them. Default false. */
  readonly history?: boolean | undefined;
  /** Accepts a day that is not over: the run is complete at the head. Default false. */
  readonly soFar?: boolean | undefined;
  /** Called for every event. The report comes last, even if the run fails. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/** What happens during a run. */
export type RunEvent = RunStages | WalkEvent | RunReport;

/** The first event of a run. */
export interface RunStages {
  readonly event: 'stages';
  /** Pipelines in the order of the run, with their number of missing blocks. */
  readonly stages: readonly { readonly pipeline: string; readonly blocks: number }[];
}

/** The result of a run; also the last line of `--json`. */
export interface RunReport {
  readonly event: 'done';
  readonly network: string;
  /** The requested pipelines, separated by commas. */
  readonly pipeline: string;
  /** First and last requested masterchain seqno. */
  readonly from: number;
  readonly to: number;
  /** The requested blocks. */
  readonly asked: readonly Span[];
  /** Rows committed by this run, by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly retries: number;
  /** Requests planned from headers, for comparison with `requests`. */
  readonly planned: number;
  /** Commits of rows by this run. */
  readonly spans: number;
  /** Records of the range in quarantine after this run. */
  readonly quarantined: number;
  /** Keys of lookups that the source does not know, by pipeline; empty if it has a row for each that needs one. */
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** What nothing proves of the requested blocks, by pipeline; empty if all rows are proven. */
  readonly unproven: UnprovenBlocks;
  /** What the content of the transactions that this run committed shows: those that agree with their hash, and others. */
  readonly content: Readonly<Record<string, number>>;
  /** Commits that were compared with the witness, and those for which it did not answer; absent without a witness, and without commits. */
  readonly witness?: WitnessCounts;
  /** True if every block of the range is done in every pipeline, and every requested day is over. */
  readonly complete: boolean;
  /** Requested UTC days and times that are not over: they end at the head. */
  readonly openDays: readonly string[];
  readonly seconds: number;
}

/** Masterchain blocks that are decoded sooner than worker threads start. */
const FEW_BLOCKS = 100;

/**
 * Exports a range to the warehouse: for each pipeline, the blocks that are not done yet.
 *
 * @throws {UsageError} {SourceError} {StoreError} {DecodeError} when the run cannot continue; committed rows stay
 */
export async function run(options: RunOptions): Promise<RunReport> {
  const { effects = realEffects } = options;
  const startedAt = effects.monotonic();
  const { registry, pipelines, isNew } = await choosePipelines(options);
  requireSliceable(options, pipelines);
  const parts = parseRange(options.range);
  const command = ['tonlake run', ...options.pipelines].join(' ');
  const session = await openSession({ ...options, effects, command });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveRequested(options, chain);
    if (isNew) {
      const unmade = await reportUnreached(
        { options, effects, pipelines, session, chain, asked },
        startedAt,
        isComing(parts),
      );
      if (unmade !== undefined) return unmade;
    }
    const slice = options.slice === undefined ? '' : ` --slice ${options.slice}`;
    const store = await openExportStore(options, registry, {
      network: session.network,
      command: `${command} --range ${options.range}${slice}`,
    });
    const steps = new CommitSteps(options.steps ?? [], store, session.network);
    const tally = new RunTally(store, (event) => {
      if (event.event === 'span') steps.committed();
      options.onEvent?.(event);
    });
    const stages = stagesOf(store, pipelines, asked);
    const loaders = openLoaders(store, isSmall(stages, pipelines));
    const running = { options, effects, registry, pipelines, session, chain, asked, store, stages, tally, loaders };
    try {
      await steps.begin();
      const failure = await failureOf(() => runAll(running, isComing(parts)));
      await steps.end();
      const report = reportOf(running, startedAt, failure !== undefined);
      options.onEvent?.(report);
      if (failure !== undefined) throw failure.error;
      return report;
    } finally {
      await closeAll([() => steps.end(), () => loaders.close(), () => store.close()]);
    }
  } finally {
    await session.close();
  }
}

/** What the report of a run is made from. */
type Reported = Pick<Running, 'options' | 'effects' | 'pipelines' | 'session' | 'chain' | 'asked' | 'tally'>;

/** An open run, and the requested blocks. */
interface Running extends OpenExport {
  readonly options: RunOptions;
  readonly chain: ReturnType<typeof sessionBounds>;
  readonly asked: readonly Span[];
  readonly stages: RunStages['stages'];
}

/**
 * Checks the source before a new warehouse is created: none is made if the source does not respond, or has none of the blocks.
 *
 * @returns the report of a run that has ended; undefined if it can go on
 * @throws {SourceError} after the report
 */
async function reportUnreached(
  running: Omit<Reported, 'tally'>,
  startedAt: number,
  isAwaited: boolean,
): Promise<RunReport | undefined> {
  const { options, chain, pipelines, asked } = running;
  const tally = new RunTally({ ledger: () => [] }, options.onEvent);
  const reachable = async (report: RunTally['report']): Promise<boolean> => {
    const ends = await chain.ends();
    if (isAwaited || !pipelines.every(coversBlocks)) return true;
    const found = pipelines.map((pipeline) => splitReachable(pipeline, asked, ends, options.waitMs, report));
    return found.some((spans) => spans.length > 0);
  };
  let isReachable = false;
  const failure = await failureOf(async () => {
    isReachable = await reachable(() => undefined);
    if (!isReachable) await reachable(tally.report);
  });
  if (failure === undefined && isReachable) return undefined;
  const report = reportOf({ ...running, tally }, startedAt, failure !== undefined);
  options.onEvent?.(report);
  if (failure !== undefined) throw failure.error;
  return report;
}

/** Exports all pipelines, one after the other. Blocks that do not exist yet follow in pieces, as the head passes them. */
async function runAll(running: Running, isAwaited: boolean): Promise<void> {
  const { options, effects, registry, pipelines, asked, session, chain, store, tally, loaders } = running;
  const { source } = session;
  const { waitMs, history = false } = options;
  const sink = storeSink(store, registry);
  const opened = { options, session, effects, registry, pipelines, asked, sink, loaders, report: tally.report };
  const context = runContext({ ...opened, history });
  await prepare(running, context);
  const newest: RunChain['newest'] = () => fetchEnds(source, { ending: context.stop });
  const heads = new HeadCheck();
  const requireSame = compareOnce(running, context.stop);
  const runEach = async (each: RunContext, ends: RunChain['ends']): Promise<void> => {
    for (const pipeline of each.pipelines) {
      if (each.stop.aborted) return;
      const from = options.pipelines.includes(pipeline.name) ? options.from : undefined;
      await runPipeline({ ...each, pipeline, from }, { ends, newest, heads, requireSame });
    }
  };
  if (!isAwaited) return runEach(context, chain.ends);
  // Lists that belong to no block are read once, after the last piece.
  const ofBlocks = pipelines.filter(coversBlocks);
  for await (const { spans, ends } of reachedPieces({
    requested: asked,
    source,
    effects,
    stop: context.stop,
    waitMs,
  })) {
    await runEach({ ...context, pipelines: ofBlocks, asked: spans, waitMs: 0 }, async () => ends);
  }
  const ends = await newest();
  await runEach({ ...context, waitMs: 0 }, async () => ends);
}

/** Compares the proven blocks with the source, unless they are those of this run. */
function compareOnce({ store, registry, session }: Running, ending: AbortSignal): NonNullable<RunChain['requireSame']> {
  const proven = new ProvenChain(store, registry);
  let compared: Promise<void> | undefined;
  return (ends) => {
    compared ??= proven.requireSame(session.source, ends, ending);
    return compared;
  };
}

/** Checks keys and reports the stages. @throws {UsageError} */
async function prepare(running: Running, context: RunContext): Promise<void> {
  const { options, registry, pipelines, asked, store, stages } = running;
  await requireKeyColumns(context);
  options.onEvent?.({ event: 'stages', stages });
  if (options.from === undefined) return;
  for (const name of options.pipelines) {
    const others = pipelines.map((each) => each.name).filter((each) => each !== name);
    const coming = others.filter((each) => subtractSpans(asked, doneSpans(store.ledger(), each)).length > 0);
    await requireGivenKeys({ ...context, pipeline: registry.pipeline(name) }, options.from, coming);
  }
}

function reportOf(running: Reported, startedAt: number, hasFailed: boolean): RunReport {
  const { options, effects, pipelines, session, chain, asked, tally } = running;
  const { openDays } = chain;
  const isOver = openDays.length === 0 || options.soFar === true;
  const given = options.from === undefined ? [] : options.pipelines;
  // Blocks do not show whether all given keys were requested.
  const isCut = options.from !== undefined && (hasFailed || options.stop?.aborted === true);
  const totals = tally.totals(pipelines, asked, session.source.counts, given);
  return {
    event: 'done',
    network: session.network,
    pipeline: options.pipelines.join(','),
    from: asked[0]?.from ?? 0,
    to: asked.at(-1)?.to ?? 0,
    asked,
    ...totals,
    complete: totals.complete && isOver && !isCut,
    openDays,
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  };
}

function stagesOf(store: Store, pipelines: readonly PipelineDef[], asked: readonly Span[]): RunStages['stages'] {
  return pipelines.map((pipeline) => ({
    pipeline: pipeline.name,
    blocks: totalSize(subtractSpans(asked, doneFor(store.ledger(), pipeline))),
  }));
}

/** True if starting threads would take longer than decoding the rows in this one. */
function isSmall(stages: RunStages['stages'], pipelines: readonly PipelineDef[]): boolean {
  return pipelines.every(coversBlocks) && stages.every(({ blocks }) => blocks <= FEW_BLOCKS);
}
