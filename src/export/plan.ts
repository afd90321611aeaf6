import { type IndexEnds, sessionBounds } from '../chain/index-ends.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { realEffects } from '../core/effects.ts';
import { TonlakeError } from '../core/errors.ts';
import { intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { isMasterchain, type PipelineDef } from '../declare/pipeline.ts';
import { selectFrom } from '../declare/selection.ts';
import { openSession } from '../http/session.ts';
import type { Source } from '../http/source.ts';
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
import { estimateList, type ListBasis } from './quote/estimate-list.ts';
import { Estimate } from './quote/estimate-rows.ts';
import { type HeaderSample, sampleHeaders } from './quote/header-sample.ts';
import { type Measured, measurePages } from './quote/measure-pages.ts';
import { sampleWindows } from './quote/sample-windows.ts';
import { NOTHING, overflowOf, selectedShare, type Weight, weigh } from './quote/weight.ts';
import type { RunOptions } from './run.ts';
import { walkKindOf } from './walk-kinds.ts';

/** A plan with what is added up over all. */
type Planned = PipelinePlan & Weight;

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
  /** How many more or fewer requests it may be. */
  readonly band: number;
  /** Bytes of Parquet. */
  readonly bytes: number;
  /** Where the figures come from, for a pipeline whose rows no header counts. */
  readonly basis?: ListBasis | undefined;
}

export interface RunPlan {
  readonly event: 'plan';
  readonly network: string;
  readonly asked: readonly Span[];
  /** What of it the index does not hold now: below its first block, or above its head. No figure counts it. */
  readonly absent: readonly Span[];
  /** First and newest masterchain block of the index; undefined where it need not be asked, because all headers are known. */
  readonly index: Span | undefined;
  readonly pipelines: readonly PipelinePlan[];
  /** All requests, and how many more or fewer it may be. */
  readonly requests: number;
  readonly band: number;
  /** Pipelines of which nothing is known but what they take at least: `requests` may be far less than a run needs. */
  readonly unknown: readonly string[];
  /** `headers` where all headers of what is missing are known. */
  readonly basis: 'headers' | 'sample';
  /** Bytes of Parquet, and how many more or fewer it may be. */
  readonly bytes: number;
  readonly bytesBand: number;
  /** Minutes that this machine needs to process the rows, however fast the source is. */
  readonly machineMinutes: number;
  /** Minutes at some rates, by requests per second: what the source or this machine needs, whichever is more. */
  readonly minutes: Readonly<Record<string, number>>;
}

/** Says what `run` would do with the same options. Touches no file; where headers are unknown, it reads a sample of them. */
export async function planRun(options: RunOptions): Promise<RunPlan> {
  const { effects = realEffects } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const pipelines = selectFrom(registry.toRun(options.pipelines), options);
  for (const pipeline of pipelines) walkKindOf(registry, pipeline);
  const parts = parseRange(options.range);
  const session = await openSession({ ...options, effects, command: 'tonlake plan' });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveRange(parts, chain);
    const reader = await readerIfAny(options.warehouse, registry.tables);
    try {
      const ledger = (await reader?.ledger()) ?? [];
      const headers = registry.playing('headers').pipeline.name;
      const news = subtractSpans(asked, doneSpans(ledger, headers));
      const index = news.length === 0 ? undefined : indexOf(await chain.ends());
      const absent = index === undefined ? [] : subtractSpans(news, [index]);
      const held = subtractSpans(asked, absent);
      const sampling = { source: session.source, effects, ends: chain.ends, states: new Map(), lengths: new Map() };
      const knowledge = { ledger, reader, registry, sampling };
      const plans: Planned[] = [];
      let isSampled = false;
      for (const pipeline of pipelines) {
        const { name } = pipeline;
        const missing = missingOf(ledger, pipeline, held);
        const done = intersectSpans(asked, doneFor(ledger, pipeline));
        const share = selectedShare(registry.pipeline(name), pipeline);
        const common = { pipeline: name, done, missing, seqnos: totalSize(missing) };
        if (!isMasterchain(pipeline)) {
          const { measured = NOTHING, ...estimate } = await estimateList(pipeline, missing, knowledge);
          isSampled ||= estimate.basis === 'sample';
          plans.push({ ...common, ...estimate, ...weigh(pipeline, estimate.rows, { ledger, measured, share }) });
          continue;
        }
        const { walk } = pipeline;
        const known = intersectSpans(missing, doneSpans(ledger, headers));
        const unknown = subtractSpans(missing, known);
        const estimate = new Estimate(options.walk ?? 'auto');
        if (reader !== undefined && walk.proof === 'tx_count') await estimate.addKnown(reader, known);
        let measured: Measured = NOTHING;
        for (const span of unknown) {
          const sample = await samples(session.source, span, index?.from ?? 0);
          isSampled ||= !sample.isWhole;
          estimate.addSample(walk.proof, span, sample, index?.from ?? 0);
          if (walk.proof === 'links') measured = await measurePages(pipeline, sample.pages, effects);
        }
        if (walk.proof === 'tx_count') {
          const pages = unknown.length === 0 ? [] : estimate.asks;
          const windows = await sampleWindows(session.source, pipeline, pages, effects);
          measured = windows.measured;
          estimate.addOverflow(pages.length === 0 ? { overflow: overflowOf(name, ledger) } : windows);
        }
        const figures = estimate.figures();
        plans.push({ ...common, ...figures, ...weigh(pipeline, figures.rows, { ledger, measured, share }) });
      }
      const where = { network: session.network, asked, absent, index };
      return { ...where, ...total(plans, isSampled) };
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}

/** What is asked and not done, and all of the entries that are read again for columns that they lack. */
function missingOf(ledger: readonly LedgerEntry[], pipeline: PipelineDef, asked: readonly Span[]): readonly Span[] {
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return unionSpans([...missing, ...narrowerEntries(ledger, pipeline, missing).flatMap(spansOf)]);
}

function indexOf({ first, last }: IndexEnds): Span {
  return { from: first, to: last };
}

function total(plans: readonly Planned[], isSampled: boolean) {
  const add = (of: (plan: Planned) => number): number => plans.reduce((sum, plan) => sum + of(plan), 0);
  const inOne = add((plan) => Object.values(plan.requests).reduce((sum, count) => sum + count, 0));
  const requests = inOne === 0 ? 0 : inOne + 1;
  const seconds = add((plan) => plan.seconds);
  const minutesAt = (rps: number): number => Math.round((Math.max(requests / rps, seconds) / 60) * 100) / 100;
  return {
    event: 'plan' as const,
    pipelines: plans.map(({ seconds: _seconds, bytesBand: _bytesBand, ...plan }) => plan),
    requests,
    band: Math.ceil(add((plan) => plan.band)),
    unknown: plans.filter((plan) => plan.basis === 'least').map(({ pipeline }) => pipeline),
    basis: isSampled ? ('sample' as const) : ('headers' as const),
    bytes: Math.round(add((plan) => plan.bytes)),
    bytesBand: Math.round(add((plan) => plan.bytesBand)),
    machineMinutes: Math.round((seconds / 60) * 100) / 100,
    minutes: Object.fromEntries(RATES.map((rps) => [rps, minutesAt(rps)])),
  };
}

const remembered = new WeakMap<Source, Map<string, Promise<HeaderSample>>>();

/** The sample of a span; both pipelines ask for the same one. */
function samples(source: Source, span: Span, first: number): Promise<HeaderSample> {
  const known = remembered.get(source) ?? new Map<string, Promise<HeaderSample>>();
  remembered.set(source, known);
  const key = `${span.from}:${span.to}`;
  const sample = known.get(key) ?? sampleHeaders(source, span, first);
  known.set(key, sample);
  return sample;
}

async function readerIfAny(path: string, tables: Parameters<typeof openReader>[1]): Promise<Reader | undefined> {
  try {
    return await openReader(path, tables);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
