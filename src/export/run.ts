import { fetchEnds, sessionBounds } from '../chain/index-ends.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { isComing, reachedPieces } from '../chain/wait-for-blocks.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { isMasterchain, type MasterchainPipeline, type PipelineDef, proofOf } from '../declare/pipeline.ts';
import { loadRegistry, type Registry } from '../declare/registry.ts';
import { type Selection, selectFrom } from '../declare/selection.ts';
import { openSession, type SessionOptions } from '../http/session.ts';
import type { Source } from '../http/source.ts';
import { doneFor, doneSpans, narrowerEntries, spansOf } from '../warehouse/ledger/done-spans.ts';
import { openStore } from '../warehouse/open-store.ts';
import { requireSpace } from '../warehouse/staging/free-space.ts';
import type { Store } from '../warehouse/store.ts';
import { warehousePath } from '../warehouse/store-options.ts';
import { type ListRun, walkList } from './list-run.ts';
import { requireGivenKeys, requireKeyColumns } from './lookup-keys.ts';
import { missingSpans, tellSkipped } from './missing-spans.ts';
import { PageQueue } from './page-queue.ts';
import { requireMasterchain } from './page-request.ts';
import { splitReachable } from './reachable-blocks.ts';
import { RunTally } from './run-tally.ts';
import { countPromised, storeSink } from './store-sink.ts';
import { walkAndRepair, widenWalked } from './walk-and-repair.ts';
import type { WalkContext, WalkEvent, WalkMode } from './walk-context.ts';
import { openLoaders } from './workers/worker-pool.ts';

export interface RunOptions extends Omit<SessionOptions, 'effects' | 'onRetry' | 'names' | 'command'>, Selection {
  /** Names of pipelines; what they need runs before them. */
  readonly pipelines: readonly string[];
  /** Masterchain blocks, both ends inclusive: `47670000:47671000`, `-1000:`, `2026-05-01`; see `parseRange`. */
  readonly range: string;
  /** Folder of Parquet files, or a file that ends in `.duckdb`. Made if it does not exist. */
  readonly warehouse: string;
  readonly store?: Store['kind'] | undefined;
  /** How rows are asked for; all ways give the same rows. Default `auto`, the way with the fewest requests. */
  readonly walk?: WalkMode | undefined;
  /** Threads that decode pages; 0 for none beside this one. Default: one less than cores, at least one and at most two. */
  readonly workers?: number | undefined;
  /** Select of the keys that a lookup is for, instead of the declared one; its columns are named like the parameters. */
  readonly from?: string | undefined;
  /** Keep earlier readings of lists that change, instead of replacing them. Default false. */
  readonly history?: boolean | undefined;
  /** Takes a day that is not over as far as it came: the run is complete then. Default false. */
  readonly soFar?: boolean | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Aborted to end after the span in flight; nothing that was committed is lost. */
  readonly stop?: AbortSignal | undefined;
  /** Told of everything that happens; the report comes last, also when the run fails half-way. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  readonly onRetry?: SessionOptions['onRetry'];
}

/** What happens during a run. */
export type RunEvent = RunStages | WalkEvent | RunReport;

/** What a run is about to do; its first event. */
export interface RunStages {
  readonly event: 'stages';
  /** In their order, with the blocks that are missing. */
  readonly stages: readonly { readonly pipeline: string; readonly blocks: number }[];
}

/** What a run did; also the last line of `--json`. */
export interface RunReport {
  readonly event: 'done';
  readonly network: string;
  /** The pipelines that were asked for, separated by commas. */
  readonly pipeline: string;
  /** Least and greatest masterchain seqno that was asked for. */
  readonly from: number;
  readonly to: number;
  /** Rows committed by this run, by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly retries: number;
  /** Requests planned from headers, for comparison with `requests`. */
  readonly planned: number;
  /** Spans committed by this run. */
  readonly spans: number;
  /** Records in quarantine inside the range after this run. */
  readonly quarantined: number;
  /**
   * Blocks that are done, of lists whose rows were compared with nothing: they are what the source answered. By pipeline; empty when
   * everything is proven.
   */
  readonly unproven: Readonly<Record<string, readonly Span[]>>;
  /** Whether every asked block is done for every asked pipeline, and every day that was asked for is over. */
  readonly complete: boolean;
  /** UTC days, and times, that were asked for and are not over: they were taken up to the head. */
  readonly openDays: readonly string[];
  readonly seconds: number;
}

/** Time that the requests of one span may take, so that a slow source does not keep much uncommitted. */
const SPAN_SECONDS = 60;
const LEAST_SPAN_ASKS = 20;

/**
 * Brings the asked range into the warehouse: for each pipeline, what is asked minus what is done.
 *
 * @throws {UsageError} {SourceError} {StoreError} {DecodeError} when the run cannot go on; what was committed stays
 */
export async function run(options: RunOptions): Promise<RunReport> {
  const { effects = realEffects, registry = await loadRegistry(), stop = new AbortController().signal } = options;
  const startedAt = effects.monotonic();
  const pipelines = selectFrom(registry.toRun(options.pipelines), options);
  warehousePath(options.warehouse);
  const parts = parseRange(options.range);
  const command = ['tonlake run', ...options.pipelines].join(' ');
  const session = await openSession({ ...options, effects, command });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveRange(parts, chain);
    const { network, source } = session;
    const { tables } = registry;
    const store = await openStore({
      ...{ path: options.warehouse, network, tables, effects, ...kindOf(options.store) },
      command: `${command} --range ${options.range}`,
    });
    const tally = new RunTally(store, options.onEvent);
    const asks = new PageQueue(2 * (options.concurrency ?? 8));
    const loaders = openLoaders({ workers: options.workers, stage: (name, span) => store.stage(name, span) });
    const contextOf = (pipeline: MasterchainPipeline, first: number): WalkContext => ({
      declared: requireMasterchain(registry.pipeline(pipeline.name)),
      ...{ pipeline, network, source, effects, stop, asks, first, report: tally.report, sink: storeSink(store) },
      ...{ mode: options.walk ?? 'auto', requestsPerSpan: requestsPerSpan(source), loaders },
    });
    const listRun = {
      ...{ pipelines, registry, store, network, source, effects, stop, asked, report: tally.report },
      ...{ warehouse: options.warehouse, waitMs: options.waitMs, history: options.history ?? false, chain },
      ...{ concurrency: options.concurrency ?? 8, requestsPerSpan: requestsPerSpan(source) },
    };
    const prepare = async (): Promise<void> => {
      await requireKeyColumns(listRun);
      options.onEvent?.({ event: 'stages', stages: stagesOf(store, pipelines, asked) });
      if (options.from === undefined) return;
      for (const name of options.pipelines) {
        const others = pipelines.map((each) => each.name).filter((each) => each !== name);
        const coming = others.filter((each) => subtractSpans(asked, doneSpans(store.ledger(), each)).length > 0);
        await requireGivenKeys({ ...listRun, pipeline: registry.pipeline(name) }, options.from, coming);
      }
    };
    const walkAll = async (part: Pick<ListRun, 'pipelines' | 'asked' | 'waitMs' | 'chain'>): Promise<void> => {
      const partRun = { ...listRun, ...part };
      for (const pipeline of part.pipelines) {
        if (stop.aborted) return;
        if (!isMasterchain(pipeline)) {
          const from = options.pipelines.includes(pipeline.name) ? options.from : undefined;
          await walkList({ pipeline, ...partRun, from });
          continue;
        }
        const missing = missingSpans({ pipeline, ...partRun });
        if (missing.length === 0) {
          tellSkipped({ pipeline, ...partRun }, tally.report);
          continue;
        }
        const ends = await part.chain.ends();
        const reachable = splitReachable(pipeline, missing, ends, part.waitMs, tally.report);
        const records = await announce(tally, pipeline, store, part.asked, reachable);
        await requireSpace(options.warehouse, pipeline, records ?? totalSize(reachable));
        const needed = pipelines.filter(({ name }) => pipeline.needs.includes(name)).filter(isMasterchain);
        const neededContexts = needed.map((each) => contextOf(each, ends.first));
        const narrower = narrowerEntries(store.ledger(), pipeline, reachable);
        for (const entry of narrower) {
          if (stop.aborted) return;
          await widenWalked([contextOf(pipeline, ends.first), ...neededContexts], entry);
        }
        const rest = subtractSpans(reachable, unionSpans(narrower.flatMap(spansOf)));
        await walkAndRepair([contextOf(pipeline, ends.first), ...neededContexts], rest);
      }
    };
    const walkRange = async (): Promise<void> => {
      await prepare();
      if (!isComing(parts)) return walkAll({ pipelines, asked, waitMs: options.waitMs, chain });
      // Other lists are read once, when all blocks have come.
      const ofBlocks = pipelines.filter(({ walk }) => ['masterchain', 'block', 'lt'].includes(walk.kind));
      for await (const { spans, ends } of reachedPieces({ asked, source, effects, stop, waitMs: options.waitMs })) {
        await walkAll({ pipelines: ofBlocks, asked: spans, waitMs: 0, chain: { ends: async () => ends } });
      }
      const ends = await fetchEnds(source);
      if (!stop.aborted) await walkAll({ pipelines, asked, waitMs: 0, chain: { ends: async () => ends } });
    };
    let failure: { readonly error: unknown } | undefined;
    try {
      await walkRange().catch((error: unknown) => {
        failure = { error };
      });
      const { openDays } = chain;
      const isOver = openDays.length === 0 || options.soFar === true;
      const totals = tally.totals(pipelines, asked, source.counts, options.from === undefined ? [] : options.pipelines);
      const report: RunReport = {
        event: 'done',
        network,
        pipeline: options.pipelines.join(','),
        from: asked[0]?.from ?? 0,
        to: asked.at(-1)?.to ?? 0,
        ...totals,
        complete: totals.complete && isOver,
        openDays,
        seconds: Math.round(effects.monotonic() - startedAt) / 1000,
      };
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

function stagesOf(store: Store, pipelines: readonly PipelineDef[], asked: readonly Span[]): RunStages['stages'] {
  return pipelines.map((pipeline) => ({
    pipeline: pipeline.name,
    blocks: totalSize(subtractSpans(asked, doneFor(store.ledger(), pipeline))),
  }));
}

/** Most requests of one span at the source's rate. */
function requestsPerSpan({ rps }: Source): number {
  return rps === undefined ? Number.MAX_SAFE_INTEGER : Math.max(LEAST_SPAN_ASKS, Math.round(rps * SPAN_SECONDS));
}

function kindOf(kind: Store['kind'] | undefined): { readonly kind?: Store['kind'] } {
  return kind === undefined ? {} : { kind };
}

async function announce(
  tally: RunTally,
  pipeline: PipelineDef,
  store: Store,
  asked: readonly Span[],
  missing: readonly Span[],
): Promise<number | undefined> {
  const isCounted = proofOf(pipeline) === 'tx_count';
  const records = isCounted ? await countPromised(store.query, missing) : undefined;
  const seqnos = totalSize(missing);
  tally.report({ event: 'start', pipeline: pipeline.name, asked, missing, seqnos, records });
  return records;
}
