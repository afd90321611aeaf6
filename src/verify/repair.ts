import { isMasterchain } from '../declare/pipeline.ts';
import { type Effects, realEffects } from '../effects.ts';
import { loadRegistry, type Registry } from '../registry.ts';
import { run } from '../run.ts';
import { openSession, type SessionOptions } from '../session.ts';
import { formatSpans, intersectSpans, type Span, subtractSpans, unionSpans } from '../span.ts';
import { openStore } from '../store/open.ts';
import { doneSpans } from '../store/progress.ts';
import type { Store } from '../store/store.ts';
import { requireMasterchain } from '../walk/ask.ts';
import { storeSink } from '../walk/blocks.ts';
import { fetchEnds } from '../walk/chain.ts';
import type { WalkContext, WalkEvent } from '../walk/context.ts';
import { PageQueue } from '../walk/pagequeue.ts';
import { threadLoaders } from '../walk/pool.ts';
import { type Damage, planRepair, type RepairPlan } from './damage.ts';
import type { Finding } from './finding.ts';
import { fillLedger, REPAIR_COMMAND } from './ledgerfix.ts';
import { mend } from './mend.ts';
import { type Inspection, inspectWarehouse, type VerifyOptions, type VerifyReport } from './verify.ts';

export interface RepairOptions
  extends VerifyOptions,
    Pick<SessionOptions, 'rps' | 'concurrency' | 'waitMs' | 'env' | 'signal' | 'onRetry'> {
  /** Told of blocks that could not be had again. */
  readonly onProblem?: ((event: Extract<WalkEvent, { readonly event: 'problem' | 'quarantine' }>) => void) | undefined;
}

/** Repairs are done pipeline by pipeline, and what one uncovers in the next needs a round of its own. */
const ROUNDS = 6;

/**
 * Proves a warehouse, and brings what fails in again: sound rows stay, tables that follow from others are computed, and only what
 * is left is asked of the network that the warehouse is of. A new entry takes the place of a damaged one in one commit, so a
 * repair can be killed at any time.
 *
 * @throws {SourceError} {StoreError} when the repair cannot go on; what was repaired stays
 */
export async function repairWarehouse(options: RepairOptions): Promise<VerifyReport> {
  const { effects = realEffects, registry = await loadRegistry(), onEvent } = options;
  const all = { ...options, effects, registry };
  const wanted = new Map<string, Span[]>();
  /** What was taken for granted before, and must be back in the end. */
  const left: Lost[] = [];
  let isStuck = false;
  let requests = 0;
  const told = new Set<string>();
  for (let round = 1; ; round++) {
    const quiet: VerifyOptions = {
      ...all,
      onEvent: (event) => {
        const text = JSON.stringify(event);
        if (event.event === 'finding' && !told.has(text)) onEvent?.(event);
        told.add(text);
      },
    };
    const isOver = round > ROUNDS || isStuck || options.signal?.aborted === true;
    const step = await inspectWarehouse(quiet, async (inspection) => {
      const plan = planRepair(inspection, registry);
      for (const { pipeline, span } of plan.lost) wanted.set(pipeline, [...(wanted.get(pipeline) ?? []), span]);
      const isDone = isOver || !(plan.isLedgerBroken || plan.damages.length > 0 || wanted.size > 0);
      return { inspection, plan, isDone };
    });
    if (step.isDone) {
      const { held, report: found } = step.inspection;
      const missing = left.flatMap(({ pipeline, span }) =>
        subtractSpans([span], doneSpans(held.entries, pipeline)).map((hole) => notBack(pipeline, hole)),
      );
      for (const finding of missing) onEvent?.({ event: 'finding', ...finding });
      const findings = found.findings + missing.length;
      const report: VerifyReport = { ...found, findings, proven: findings === 0, requests };
      onEvent?.(report);
      return report;
    }
    if (step.plan.isLedgerBroken) {
      await fillLedger(step.inspection.held, registry.tables, effects);
      continue;
    }
    if (step.plan.damages.length === 0) {
      for (const [pipeline, spans] of wanted) left.push(...spans.map((span) => ({ pipeline, span })));
      requests += await runAgain(all, step.inspection, wanted);
      continue;
    }
    const done = await repairOnce(all, step.inspection, step.plan, wanted);
    requests += done.requests;
    left.push(...done.left);
    isStuck = !done.isChanged;
  }
}

interface Lost {
  readonly pipeline: string;
  readonly span: Span;
}

function notBack(pipeline: string, span: Span): Finding {
  const expected = `${formatSpans([span])} brought in again`;
  return { kind: 'not-done', pipeline, span, expected, got: 'none; tonlake run asks for it' };
}

type Ready = Omit<RepairOptions, 'effects' | 'registry'> & { readonly effects: Effects; readonly registry: Registry };

interface Step {
  readonly requests: number;
  readonly left: readonly Lost[];
  readonly isChanged: boolean;
}

/** Mends what is damaged in one pipeline. */
async function repairOnce(
  options: Ready,
  { held }: Inspection,
  plan: RepairPlan,
  wanted: Map<string, Span[]>,
): Promise<Step> {
  const { effects, registry, onEvent, onProblem } = options;
  const session = await openSession({ ...options, effects, network: held.network, command: REPAIR_COMMAND });
  const { source } = session;
  const left: Lost[] = [];
  let isChanged = false;
  try {
    const { path, network, kind } = held;
    const store = await openStore({
      ...{ path, network, kind, tables: registry.tables, effects, setAside: plan.setAside },
      command: REPAIR_COMMAND,
    });
    try {
      const contextOf = async (name: string, from: number): Promise<WalkContext> => {
        const pipeline = requireMasterchain(registry.pipeline(name));
        // Only headers need to know where the index begins.
        const first =
          pipeline.walk.proof === 'links' && !isAfterOthers(store, from) ? (await fetchEnds(source)).first : 0;
        const asks = new PageQueue(2 * (options.concurrency ?? 8));
        const loaders = threadLoaders((of, span) => store.stage(of, span));
        const report = (event: WalkEvent): void => {
          if (event.event === 'problem' || event.event === 'quarantine') onProblem?.(event);
        };
        const stop = options.signal ?? new AbortController().signal;
        const limits = { mode: 'auto', spanAsks: Number.MAX_SAFE_INTEGER } as const;
        return {
          pipeline,
          network,
          source,
          effects,
          stop,
          asks,
          loaders,
          first,
          report,
          sink: storeSink(store),
          ...limits,
        };
      };
      for (const damage of plan.damages) {
        const { pipeline, span } = damage;
        if (!isMasterchain(pipeline)) {
          isChanged = true;
          const isWhole = await takeOut(store, damage);
          if (isWhole) wanted.set(pipeline.name, [...(wanted.get(pipeline.name) ?? []), span]);
          else
            onEvent?.({ event: 'repaired', pipeline: pipeline.name, span, refetched: [], requests: 0, removed: true });
          continue;
        }
        const before = source.counts.requests;
        const context = await contextOf(damage.pipeline.name, damage.refetch[0]?.from ?? 0);
        const {
          refetched,
          failed,
          isChanged: isMended,
        } = await mend({ store, held, context, freshId: effects.freshId }, damage);
        if (!isMended) continue;
        isChanged = true;
        const sealed = damage.entries.filter(({ verdict }) => verdict === 'sealed').map((entry) => entry.span);
        left.push(...intersectSpans(failed, sealed).map((hole) => ({ pipeline: pipeline.name, span: hole })));
        const event = { event: 'repaired', pipeline: pipeline.name, span } as const;
        const asked = subtractSpans(refetched, failed);
        onEvent?.({ ...event, refetched: asked, requests: source.counts.requests - before });
      }
    } finally {
      await store.close();
    }
    return { requests: source.counts.requests, left, isChanged };
  } finally {
    await session.close();
  }
}

/** Whether blocks before this one are done: the index does not begin with it. */
function isAfterOthers(store: Store, seqno: number): boolean {
  return (doneSpans(store.ledger(), 'blocks')[0]?.from ?? seqno) < seqno;
}

/**
 * Takes damaged rows of a list out of force: what they were read from may have changed, so they cannot be made good by asking for a
 * part. Where everything in the span was asked for, a run brings it in anew.
 */
async function takeOut(store: Store, { entries, pipeline, span }: Damage): Promise<boolean> {
  const [before] = entries;
  const staged = await store.stage(pipeline.name, span).finish();
  await store.commit(staged, {
    ...{ network: before?.network ?? '', pipeline: pipeline.name, version: pipeline.version, span },
    ...{ verdict: 'sealed', scope: 'damaged rows taken out', requests: 0, retries: 0 },
    // A mart is built again by the next build.
    ...(before?.mart === undefined ? {} : { mart: { ...before.mart, inputs: '' } }),
    supersedes: entries.map(({ id }) => id),
  });
  return before?.scope === undefined;
}

/** Brings in what was lost or taken out, unless other entries hold it. @returns requests made */
async function runAgain(options: Ready, { held }: Inspection, wanted: Map<string, Span[]>): Promise<number> {
  const { registry, onEvent, onProblem } = options;
  let requests = 0;
  for (const { name } of registry.inOrder([...wanted.keys()])) {
    const missing = subtractSpans(unionSpans(wanted.get(name) ?? []), doneSpans(held.entries, name));
    wanted.delete(name);
    if (missing.length === 0) continue;
    const report = await run({
      ...{ pipelines: [name], network: held.network, warehouse: held.path, range: formatSpans(missing) },
      ...{ registry, effects: options.effects, rps: options.rps, concurrency: options.concurrency },
      ...{ waitMs: options.waitMs, env: options.env, signal: options.signal, onRetry: options.onRetry },
      onEvent: (event) => {
        if (event.event === 'problem' || event.event === 'quarantine') onProblem?.(event);
      },
    });
    requests += report.requests;
    for (const span of missing) {
      onEvent?.({ event: 'repaired', pipeline: name, span, refetched: [span], requests: report.requests });
    }
  }
  return requests;
}
