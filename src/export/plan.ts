import { type IndexEnds, sessionBounds } from '../chain/index-ends.ts';
import { parseRange } from '../chain/range.ts';
import { realEffects } from '../core/effects.ts';
import { TonlakeError, WalkError } from '../core/errors.ts';
import { intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { isMasterchain, type PipelineDef } from '../declare/pipeline.ts';
import { selectFrom } from '../declare/selection.ts';
import { openSession, type Session } from '../http/session.ts';
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
import { requireSliceable, resolveAsked } from './asked-blocks.ts';
import { requestsPerSpan } from './exporting.ts';
import { NOTHING } from './quote/measure-pages.ts';
import {
  type ListBasis,
  type Planner,
  type Quote,
  type QuoteMemo,
  type Quoting,
  quoteFromHistory,
} from './quote/quote.ts';
import { quotePlanned } from './quote/quote-planned.ts';
import { selectedShare, type Weight, weigh } from './quote/weight.ts';
import type { RunOptions } from './run.ts';
import type { WalkContext } from './walk-context.ts';
import { walkKindOf } from './walk-kinds.ts';

/** A plan, and the figures that only the total shows. */
type Planned = PipelinePlan & Weight & Pick<Quote, 'isSampled'>;

const RATES = [1, 10, 25, 100];

/** What a run would do for one pipeline. */
export interface PipelinePlan {
  readonly pipeline: string;
  /** Of the asked range. */
  readonly done: readonly Span[];
  readonly missing: readonly Span[];
  readonly seqnos: number;
  readonly rows: number;
  /** Requests by path. */
  readonly requests: Readonly<Record<string, number>>;
  /** Uncertainty of the number of requests, plus or minus. */
  readonly band: number;
  /** Bytes of Parquet. */
  readonly bytes: number;
  /** Where the figures come from; undefined if headers count the rows. */
  readonly basis?: ListBasis | undefined;
}

export interface RunPlan {
  readonly event: 'plan';
  readonly network: string;
  readonly asked: readonly Span[];
  /** Blocks below the first block of the index, or above its head. No figure counts them. */
  readonly absent: readonly Span[];
  /** First and last masterchain block of the index; undefined if all headers are known, so that it was not asked. */
  readonly index: Span | undefined;
  readonly pipelines: readonly PipelinePlan[];
  /** All requests, and their uncertainty, plus or minus. */
  readonly requests: number;
  readonly band: number;
  /** Pipelines with only a lower bound: `requests` may be far less than a run needs. */
  readonly unknown: readonly string[];
  /** `headers` if all headers of the missing blocks are known. */
  readonly basis: 'headers' | 'sample';
  /** Bytes of Parquet, and their uncertainty, plus or minus. */
  readonly bytes: number;
  readonly bytesBand: number;
  /** Minutes that this machine needs to process the rows. */
  readonly machineMinutes: number;
  /** Minutes by requests per second: those of the source or of this machine, whichever is more. */
  readonly minutes: Readonly<Record<string, number>>;
}

/** Says what `run` would do with the same options. Changes no file; reads a sample of what the warehouse cannot tell. */
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
    const asked = await resolveAsked(options, chain);
    const reader = await readerIfAny(options.warehouse, registry.tables);
    try {
      const ledger = (await reader?.ledger()) ?? [];
      const sealed = doneSpans(ledger, registry.playing('headers').pipeline.name);
      const news = subtractSpans(asked, sealed);
      const index = news.length === 0 ? undefined : indexOf(await chain.ends());
      const absent = index === undefined ? [] : subtractSpans(news, [index]);
      const present = subtractSpans(asked, absent);
      const memo: QuoteMemo = { states: new Map(), lengths: new Map(), samples: new Map() };
      const plans: Planned[] = [];
      for (const pipeline of pipelines) {
        const declared = registry.pipeline(pipeline.name);
        const missing = missingOf(ledger, pipeline, present);
        const done = intersectSpans(asked, doneFor(ledger, pipeline));
        const context = planningOf(options, session, { pipeline, declared, pipelines, registry, asked, effects });
        const quoting = { context, ledger, reader, ends: chain.ends, memo };
        const { measured, isSampled, ...quote } = await quotePipeline(quoting, missing);
        const share = selectedShare(declared, pipeline);
        const weight = weigh(pipeline, quote.rows, { ledger, measured, share });
        const seqnos = totalSize(missing);
        plans.push({ pipeline: pipeline.name, done, missing, seqnos, ...quote, ...weight, isSampled });
      }
      return { network: session.network, asked, absent, index, ...total(plans, sealed.length > 0) };
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}

/** What walks may use while they are planned: they see a warehouse without rows, and report nothing. */
function planningOf(
  options: RunOptions,
  { network, source }: Session,
  known: Pick<WalkContext, 'pipeline' | 'declared' | 'pipelines' | 'registry' | 'asked' | 'effects'>,
): Quoting['context'] {
  const unused = (): never => {
    throw new WalkError('walk: expected a plan that reads and writes no rows', { code: 'planning' });
  };
  return {
    ...known,
    ...{ network, source, mode: options.walk ?? 'auto', history: false, from: undefined },
    ...{ requestsPerSpan: requestsPerSpan(source), stop: new AbortController().signal, report: () => undefined },
    sink: {
      ...{ stage: unused, commit: unused, query: unused, headers: unused, isKept: false },
      ...{ ledger: () => [], transactions: async () => [] },
    },
  };
}

/** What the missing blocks of a pipeline take, by the walk itself, or by earlier runs where nothing counts the rows. */
async function quotePipeline(quoting: Quoting, missing: readonly Span[]): Promise<Quote> {
  const { pipeline, registry } = quoting.context;
  const kind = walkKindOf(registry, pipeline);
  const isCounted = isMasterchain(pipeline);
  if (missing.length === 0) {
    return {
      rows: 0,
      requests: {},
      band: 0,
      basis: isCounted ? undefined : 'history',
      isSampled: false,
      measured: NOTHING,
    };
  }
  const known = isCounted || pipeline.walk.kind === 'lookup' ? undefined : quoteFromHistory(quoting, missing);
  if (known !== undefined) return known;
  const plan: Planner<PipelineDef> = (context, spans) => kind.plan(context, spans);
  return kind.quote?.(quoting, missing, plan) ?? quotePlanned(quoting, missing, plan);
}

/** Requested blocks that are not done, and all blocks of entries that are read again for missing columns. */
function missingOf(ledger: readonly LedgerEntry[], pipeline: PipelineDef, asked: readonly Span[]): readonly Span[] {
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return unionSpans([...missing, ...narrowerEntries(ledger, pipeline, missing).flatMap(spansOf)]);
}

function indexOf({ first, last }: IndexEnds): Span {
  return { from: first, to: last };
}

/** @param isCompared true if a sealed block is compared with the source before anything is requested */
function total(plans: readonly Planned[], isCompared: boolean) {
  const add = (of: (plan: Planned) => number): number => plans.reduce((sum, plan) => sum + of(plan), 0);
  const inOne = add((plan) => Object.values(plan.requests).reduce((sum, count) => sum + count, 0));
  const requests = inOne === 0 ? 0 : inOne + 1 + (isCompared ? 1 : 0);
  const seconds = add((plan) => plan.seconds);
  const minutesAt = (rps: number): number => Math.round((Math.max(requests / rps, seconds) / 60) * 100) / 100;
  return {
    event: 'plan' as const,
    pipelines: plans.map(({ seconds: _seconds, bytesBand: _bytesBand, isSampled: _isSampled, ...plan }) => plan),
    requests,
    band: Math.ceil(add((plan) => plan.band)),
    unknown: plans.filter((plan) => plan.basis === 'least').map(({ pipeline }) => pipeline),
    basis: plans.some(({ isSampled }) => isSampled) ? ('sample' as const) : ('headers' as const),
    bytes: Math.round(add((plan) => plan.bytes)),
    bytesBand: Math.round(add((plan) => plan.bytesBand)),
    machineMinutes: Math.round((seconds / 60) * 100) / 100,
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
