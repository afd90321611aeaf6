import { sessionBounds } from '../chain/index-ends.ts';
import type { IndexEnds } from '../chain/index-head.ts';
import { parseRange } from '../chain/range.ts';
import { realEffects } from '../core/effects.ts';
import { TonlakeError, WalkError } from '../core/errors.ts';
import { intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { ROLES } from '../declare/roles.ts';
import { selectFrom } from '../declare/selection.ts';
import { openSession } from '../http/session.ts';
import {
  doneFor,
  doneSpans,
  type LedgerEntry,
  narrowerEntries,
  openReader,
  type Reader,
  spansOf,
} from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { type Estimate, type EstimateBasis, estimatePipeline } from './estimate.ts';
import { requireSliceable, resolveRequested } from './requested-blocks.ts';
import { bytesOfRow } from './row-bytes.ts';
import type { RunOptions } from './run.ts';
import { runContext } from './run-context.ts';
import { readHeaders } from './store-sink.ts';
import type { SpanSink } from './walk-context.ts';
import { walkKindOf } from './walk-kinds.ts';
import { ownLoaders } from './workers/loader-pool.ts';

const RATES = [1, 10, 25, 100];

/** What a run would do for one pipeline. */
export interface PipelinePlan {
  readonly pipeline: string;
  /** Of the requested range. */
  readonly done: readonly Span[];
  readonly missing: readonly Span[];
  readonly seqnos: number;
  readonly rows: number;
  /** Requests by path. */
  readonly requests: Readonly<Record<string, number>>;
  /** Bytes of Parquet. */
  readonly bytes: number;
  /** Where the figures come from; undefined if nothing is missing. */
  readonly basis?: EstimateBasis | undefined;
}

export interface RunPlan {
  readonly event: 'plan';
  readonly network: string;
  readonly asked: readonly Span[];
  /** Blocks below the first block of the index, or above its head. No figure counts them. */
  readonly absent: readonly Span[];
  /** First and last masterchain block of the index; undefined if all headers are stored, so that no request was needed. */
  readonly index: Span | undefined;
  readonly pipelines: readonly PipelinePlan[];
  readonly requests: number;
  /** Pipelines with only a lower bound: `requests` may be far less than a run needs. */
  readonly unknown: readonly string[];
  /** `headers` if all figures are exact. */
  readonly basis: 'headers' | 'estimate';
  /** Bytes of Parquet, by the rows in the warehouse, or those of other networks. */
  readonly bytes: number;
  /** Minutes by requests per second, if the source and this machine keep up. */
  readonly minutes: Readonly<Record<string, number>>;
}

/** Plans what `run` would do with the same options. Changes no file; requests a sample where the warehouse has no figures. */
export async function planRun(options: RunOptions): Promise<RunPlan> {
  const { effects = realEffects } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const pipelines = selectFrom(registry.toRun(options.pipelines), options);
  for (const pipeline of pipelines) walkKindOf(registry, pipeline);
  requireSliceable(options, pipelines);
  parseRange(options.range);
  const session = await openSession({ ...options, effects, command: 'tonlake run --dry-run' });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveRequested(options, chain);
    const reader = await readerIfAny(options.warehouse, registry.tables);
    try {
      const ledger = (await reader?.ledger()) ?? [];
      const proven = doneSpans(ledger, registry.playing('headers').pipeline.name);
      const news = subtractSpans(asked, proven);
      const index = news.length === 0 ? undefined : indexOf(await chain.ends());
      const absent = index === undefined ? [] : subtractSpans(news, [index]);
      const present = subtractSpans(asked, absent);
      const samples = new Map();
      const sink = readSink(reader, ledger);
      const loaders = ownLoaders({ stage: unused, scratch: unused });
      const opened = { options, session, effects, registry, pipelines, asked, sink, loaders };
      const context = runContext({ ...opened, report: () => undefined });
      const plans: PipelinePlan[] = [];
      for (const pipeline of pipelines) {
        const declared = registry.pipeline(pipeline.name);
        const missing = missingOf(ledger, pipeline, present);
        const given = { context: { ...context, pipeline }, ledger, reader, ends: chain.ends, samples };
        const estimate: Estimate | Omit<Estimate, 'basis'> =
          missing.length === 0
            ? { rows: 0, requests: {} }
            : await estimatePipeline(given, missing, walkKindOf(registry, pipeline));
        const done = intersectSpans(asked, doneFor(ledger, pipeline));
        const bytes = estimate.rows * bytesOfRow(declared, pipeline, ledger);
        plans.push({ pipeline: pipeline.name, done, missing, seqnos: totalSize(missing), ...estimate, bytes });
      }
      return { network: session.network, asked, absent, index, ...total(plans, proven.length > 0) };
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}

function unused(): never {
  throw new WalkError('walk: expected a plan that writes no rows');
}

/** Committed rows as the sink of planned walks, which write nothing. */
function readSink(reader: Reader | undefined, ledger: readonly LedgerEntry[]): SpanSink {
  const query = reader?.query ?? unused;
  return {
    stage: unused,
    commit: unused,
    rewrite: unused,
    query,
    isQueryable: false,
    ledger: () => ledger,
    rows: (role) => ROLES[role].relation,
    headers: (span) => readHeaders(query, span),
    transactions: async () => [],
  };
}

/** Requested blocks that are not done, and all blocks of entries that are read again for missing columns. */
function missingOf(ledger: readonly LedgerEntry[], pipeline: PipelineDef, asked: readonly Span[]): readonly Span[] {
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return unionSpans([...missing, ...narrowerEntries(ledger, pipeline, missing).flatMap(spansOf)]);
}

function indexOf({ first, last }: IndexEnds): Span {
  return { from: first, to: last };
}

/** @param isCompared true if a proven block is compared with the source before anything is requested */
function total(plans: readonly PipelinePlan[], isCompared: boolean) {
  const inOne = plans.flatMap((plan) => Object.values(plan.requests)).reduce((sum, count) => sum + count, 0);
  const requests = inOne === 0 ? 0 : inOne + 1 + (isCompared ? 1 : 0);
  const minutesAt = (rps: number): number => Math.round((requests / rps / 60) * 100) / 100;
  const isExact = plans.every(({ basis }) => basis === undefined || basis === 'headers');
  return {
    event: 'plan' as const,
    pipelines: plans.map((plan) => ({ ...plan, bytes: Math.round(plan.bytes) })),
    requests,
    unknown: plans.filter((plan) => plan.basis === 'least').map(({ pipeline }) => pipeline),
    basis: isExact ? ('headers' as const) : ('estimate' as const),
    bytes: Math.round(plans.reduce((sum, { bytes }) => sum + bytes, 0)),
    minutes: Object.fromEntries(RATES.map((rps) => [rps, minutesAt(rps)])),
  };
}

async function readerIfAny(path: string, tables: Parameters<typeof openReader>[1]): Promise<Reader | undefined> {
  try {
    return await openReader(path, tables);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
