import { fetchEnds, sessionBounds } from '../chain/index-ends.ts';
import { parseRange } from '../chain/range.ts';
import { isComing, reachedPieces } from '../chain/wait-for-blocks.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { UsageError } from '../core/errors.ts';
import { type Span, subtractSpans, totalSize } from '../core/span.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { type Selection, selectFrom } from '../declare/selection.ts';
import { openSession, type Session, type SessionOptions } from '../http/session.ts';
import type { Source } from '../http/source.ts';
import { doneFor, doneSpans, openStore, requireKind, type Store } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { requireSliceable, resolveAsked } from './asked-blocks.ts';
import { bringIn, type PipelineRun } from './bring-in.ts';
import { requireGivenKeys, requireKeyColumns } from './lookup-keys.ts';
import { PageQueue } from './page-queue.ts';
import { RunTally } from './run-tally.ts';
import { storeSink } from './store-sink.ts';
import type { WalkEvent, WalkMode } from './walk-context.ts';
import { walkKindOf } from './walk-kinds.ts';
import type { LoaderPool } from './workers/loader-port.ts';
import { openLoaders } from './workers/worker-pool.ts';

export interface RunOptions extends Omit<SessionOptions, 'effects' | 'onRetry' | 'names' | 'command'>, Selection {
  /** Names of pipelines; those that they need run first. */
  readonly pipelines: readonly string[];
  /** Masterchain blocks, both ends inclusive: `47670000:47671000`, `-1000:`, `2026-05-01`; see `parseRange`. */
  readonly range: string;
  /**
   * One of several slices of the range, such as `3/16`, for as many machines. They are disjoint, make up the range, and are the same on every
   * machine, so the range must have fixed ends. Default: the whole range.
   */
  readonly slice?: string | undefined;
  /** Folder of Parquet files, or a file that ends in `.duckdb`. Created if missing. */
  readonly warehouse: string;
  readonly store?: Store['kind'] | undefined;
  /** How rows are requested; all ways give the same rows. Default `auto`: the way with the fewest requests. */
  readonly walk?: WalkMode | undefined;
  /**
   * Maximum of threads that decode pages; 0 decodes in this thread. The first one starts with the run, others when pages pile up.
   * Default: 0 for a few blocks, otherwise one less than there are cores, at least 1 and at most 2.
   */
  readonly workers?: number | undefined;
  /** Maximum time that proven rows wait for their commit, in milliseconds, at most a day; 0 commits each span by itself. Default 60,000. */
  readonly commitEveryMs?: number | undefined;
  /** Query of the keys of a lookup, instead of the declared one; its columns are named like the parameters. */
  readonly from?: string | undefined;
  /** Keeps earlier readings of changing lists instead of replacing them. Default false. */
  readonly history?: boolean | undefined;
  /** Accepts a day that is not over: the run is complete at the head. Default false. */
  readonly soFar?: boolean | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Aborted to stop after the current spans; committed rows stay. */
  readonly stop?: AbortSignal | undefined;
  /** Called for every event. The report comes last, even if the run fails. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly onRetry?: SessionOptions['onRetry'];
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
  /** Done blocks of lists whose rows were compared with nothing, by pipeline; empty if all rows are proven. */
  readonly unproven: Readonly<Record<string, readonly Span[]>>;
  /** True if every block of the range is done in every pipeline, and every requested day is over. */
  readonly complete: boolean;
  /** Requested UTC days and times that are not over: they end at the head. */
  readonly openDays: readonly string[];
  readonly seconds: number;
}

const COMMIT_EVERY_MS = 60_000;
const MOST_COMMIT_EVERY_MS = 86_400_000;
/** Maximum time for the requests of a span, so that little is uncommitted if the source is slow. */
const SPAN_SECONDS = 60;
/** Masterchain blocks that are decoded sooner than worker threads start. */
const FEW_BLOCKS = 100;
const LEAST_SPAN_ASKS = 20;

/**
 * Exports a range to the warehouse: for each pipeline, the blocks that are not done yet.
 *
 * @throws {UsageError} {SourceError} {StoreError} {DecodeError} when the run cannot continue; committed rows stay
 */
export async function run(options: RunOptions): Promise<RunReport> {
  const { effects = realEffects } = options;
  requireInterval(options.commitEveryMs);
  await requireKind(options.warehouse, options.store);
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const startedAt = effects.monotonic();
  const pipelines = selectFrom(registry.toRun(options.pipelines), options);
  for (const pipeline of pipelines) walkKindOf(registry, pipeline);
  requireSliceable(options, pipelines);
  const parts = parseRange(options.range);
  const command = ['tonlake run', ...options.pipelines].join(' ');
  const session = await openSession({ ...options, effects, command });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveAsked(options, chain);
    const store = await openStore({
      ...{ path: options.warehouse, network: session.network, effects },
      ...{ tables: registry.tables, pipelines: registry.pipelines, ...kindOf(options.store) },
      command: `${command} --range ${options.range}${options.slice === undefined ? '' : ` --slice ${options.slice}`}`,
    });
    const tally = new RunTally(store, options.onEvent);
    const stages = stagesOf(store, pipelines, asked);
    const workers = options.workers ?? (isSmall(stages, pipelines) ? 0 : undefined);
    const loaders = openLoaders({ workers, stages: store });
    const exporting = { options, effects, registry, pipelines, session, chain, asked, store, stages, tally, loaders };
    try {
      const failure = await failureOf(() => bringAll(exporting, isComing(parts)));
      const report = reportOf(exporting, Math.round(effects.monotonic() - startedAt) / 1000);
      options.onEvent?.(report);
      if (failure !== undefined) throw failure.error;
      return report;
    } finally {
      await loaders.close();
      await store.close();
    }
  } finally {
    await session.close();
  }
}

/** @throws {UsageError} if rows would be committed too late */
function requireInterval(ms = COMMIT_EVERY_MS): void {
  if (ms >= 0 && ms <= MOST_COMMIT_EVERY_MS) return;
  throw new UsageError(`usage: expected at most 24 hours between commits, got ${ms} ms`, {
    code: 'bad-option',
    hint: 'after a kill, all that is not committed is requested again',
  });
}

/** Everything that a run has opened. */
interface Exporting {
  readonly options: RunOptions;
  readonly effects: Effects;
  readonly registry: Registry;
  readonly pipelines: readonly PipelineDef[];
  readonly session: Session;
  readonly chain: ReturnType<typeof sessionBounds>;
  readonly asked: readonly Span[];
  readonly store: Store;
  readonly stages: RunStages['stages'];
  readonly tally: RunTally;
  readonly loaders: LoaderPool;
}

/** What all pipelines of a run have in common. */
type CommonRun = Omit<PipelineRun, 'pipeline'>;

/** Exports all pipelines, one after the other. Blocks that do not exist yet follow in pieces, as the head passes them. */
async function bringAll(exporting: Exporting, isAwaited: boolean): Promise<void> {
  const { options, effects, pipelines, asked, session } = exporting;
  const common = commonRun(exporting);
  const { stop } = common;
  await prepare(exporting, common);
  const bringEach = async (own: readonly PipelineDef[], part: Partial<CommonRun>): Promise<void> => {
    for (const pipeline of own) {
      if (stop.aborted) return;
      const from = options.pipelines.includes(pipeline.name) ? options.from : undefined;
      await bringIn({ ...common, pipelines: own, ...part, pipeline, from });
    }
  };
  if (!isAwaited) return bringEach(pipelines, {});
  // Lists that belong to no block are read once, after the last piece.
  const ofBlocks = pipelines.filter(coversBlocks);
  const coming = { asked, source: session.source, effects, stop, waitMs: options.waitMs };
  for await (const { spans, ends } of reachedPieces(coming)) {
    await bringEach(ofBlocks, { asked: spans, waitMs: 0, chain: { ends: async () => ends } });
  }
  const ends = await fetchEnds(session.source);
  await bringEach(pipelines, { waitMs: 0, chain: { ends: async () => ends } });
}

function commonRun(exporting: Exporting): CommonRun {
  const { options, effects, registry, pipelines, session, chain, asked, store, tally, loaders } = exporting;
  const { network, source } = session;
  const { stop = new AbortController().signal, walk: mode = 'auto', history = false, concurrency = 8 } = options;
  return {
    ...{ pipelines, registry, network, source, effects, stop, asked, mode, history, loaders, chain },
    ...{ warehouse: options.warehouse, waitMs: options.waitMs, report: tally.report, sink: storeSink(store, registry) },
    ...{ requestsPerSpan: requestsPerSpan(source), pages: new PageQueue(2 * concurrency) },
    commitEveryMs: options.commitEveryMs ?? COMMIT_EVERY_MS,
  };
}

/** Checks keys and reports the stages. @throws {UsageError} */
async function prepare(exporting: Exporting, common: CommonRun): Promise<void> {
  const { options, registry, pipelines, asked, store, stages } = exporting;
  await requireKeyColumns(common);
  options.onEvent?.({ event: 'stages', stages });
  if (options.from === undefined) return;
  for (const name of options.pipelines) {
    const others = pipelines.map((each) => each.name).filter((each) => each !== name);
    const coming = others.filter((each) => subtractSpans(asked, doneSpans(store.ledger(), each)).length > 0);
    await requireGivenKeys({ ...common, pipeline: registry.pipeline(name) }, options.from, coming);
  }
}

function reportOf({ options, pipelines, session, chain, asked, tally }: Exporting, seconds: number): RunReport {
  const { openDays } = chain;
  const isOver = openDays.length === 0 || options.soFar === true;
  const given = options.from === undefined ? [] : options.pipelines;
  const totals = tally.totals(pipelines, asked, session.source.counts, given);
  return {
    event: 'done',
    network: session.network,
    pipeline: options.pipelines.join(','),
    from: asked[0]?.from ?? 0,
    to: asked.at(-1)?.to ?? 0,
    ...totals,
    complete: totals.complete && isOver,
    openDays,
    seconds,
  };
}

async function failureOf(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
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

/** Maximum of requests per span, at the source's rate. */
export function requestsPerSpan({ rps }: Source): number {
  return rps === undefined ? Number.MAX_SAFE_INTEGER : Math.max(LEAST_SPAN_ASKS, Math.round(rps * SPAN_SECONDS));
}

function kindOf(kind: Store['kind'] | undefined): { readonly kind?: Store['kind'] } {
  return kind === undefined ? {} : { kind };
}
