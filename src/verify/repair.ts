import { type Effects, realEffects } from '../core/effects.ts';
import { TonlakeError } from '../core/errors.ts';
import { counted, formatCount } from '../core/format.ts';
import { groupBy } from '../core/group-by.ts';
import { formatSpans, type Span, shortSpans, subtractSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';
import type { FewerRows } from '../export/fewer-rows.ts';
import { HeadCheck } from '../export/finality.ts';
import type { RunEvent } from '../export/run.ts';
import type { WalkEvent } from '../export/walk-context.ts';
import { openSession, type SessionOptions } from '../http/session.ts';
import { buildMarts } from '../marts/build-marts.ts';
import { martPipeline } from '../marts/commit-mart.ts';
import { openStore, rebuildCatalog } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { applyRepair } from './apply-repair.ts';
import { restorable } from './audit-declarations.ts';
import type { Finding } from './finding.ts';
import { expectedAgain, type Lost, lostIn, stillMissing } from './lost-entries.ts';
import { type Damage, type DamagedMart, damageKey, martKey, planRepair, type RepairPlan } from './plan-repair.ts';
import { refetch } from './refetch.ts';
import { type Inspection, inspectWarehouse, type VerifyOptions, type VerifyReport } from './verify.ts';

export interface RepairOptions
  extends VerifyOptions,
    Pick<SessionOptions, 'rps' | 'concurrency' | 'waitMs' | 'env' | 'signal' | 'onRetry'> {
  /** Called for blocks that could not be fetched again. */
  readonly onProblem?: ((event: Extract<WalkEvent, { readonly event: 'problem' | 'quarantine' }>) => void) | undefined;
  /** Keeps readable rows of blocks that the source no longer serves; these do not count as done. Default false: their entries do not change. */
  readonly keepReadable?: boolean | undefined;
}

/** Shown to processes that wait for the lock. */
const REPAIR_COMMAND = 'tonlake verify --repair';

/** Maximum attempts for the same damage. If the last one fails, it remains a finding. */
const TRIES = 2;

type Ready = Omit<RepairOptions, 'effects' | 'registry'> & { readonly effects: Effects; readonly registry: Registry };

/** Counts the attempts of a repair. */
class Attempts {
  readonly #counts = new Map<string, number>();

  isExhausted(key: string): boolean {
    return (this.#counts.get(key) ?? 0) >= TRIES;
  }

  count(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  end(key: string): void {
    this.#counts.set(key, TRIES);
  }
}

/**
 * Verifies a warehouse and repairs the damage: rows of sound files are copied, marts rebuilt, and only the rest is fetched from the network.
 * Each damaged entry is replaced in one commit, so a repair can be killed at any time. Damage that cannot be repaired remains a finding.
 *
 * @throws {SourceError} {StoreError} if the repair cannot continue; finished repairs are kept
 */
export async function repairWarehouse(options: RepairOptions): Promise<VerifyReport> {
  const { effects = realEffects, onEvent } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry, () => {});
  const all: Ready = { ...options, effects, registry };
  const attempts = new Attempts();
  /** Blocks of lost entries. They are remembered because another repair can take the number of the newest entry, and so hide its loss. */
  const allLost = new Map<string, Lost>();
  const reported = new Set<string>();
  let requests = 0;
  for (;;) {
    const quiet: VerifyOptions = {
      ...all,
      // A stopped repair reports the remaining damage.
      signal: undefined,
      onEvent: (event) => {
        const text = JSON.stringify(event);
        if (event.event === 'finding' && !reported.has(text)) onEvent?.(event);
        reported.add(text);
      },
    };
    const { inspection, lost, plan } = await inspectWarehouse(quiet, async (inspection) => {
      for (const each of lostIn(inspection, registry))
        allLost.set(`${each.pipeline} ${formatSpans([each.span])}`, each);
      const lost = [...allLost.values()].flatMap((each) => stillMissing(inspection.warehouse.entries, each));
      const plan = planRepair(inspection, registry, lost, (damage) => attempts.isExhausted(damageKey(damage)));
      return { inspection, lost, plan };
    });
    const marts = plan.marts.filter((mart) => !attempts.isExhausted(martKey(mart)));
    const isLedgerBroken = plan.isLedgerBroken && !attempts.isExhausted('ledger');
    const undeclared = attempts.isExhausted('declarations') ? [] : restorable(inspection.declarations, registry);
    const isIdle = !isLedgerBroken && undeclared.length + plan.damages.length + marts.length === 0;
    // Everything is repaired, but the catalog still has lost entries.
    const isCatalogStale = isIdle && lost.length === 0 && showsLost(inspection) && !attempts.isExhausted('catalog');
    if ((isIdle && !isCatalogStale) || options.signal?.aborted === true) {
      const { report: found } = inspection;
      const unreported = lost.filter((each) => !isReported(inspection.findings, each));
      for (const { pipeline, span } of unreported) {
        const expected = expectedAgain({ pipeline, span });
        onEvent?.({ event: 'finding', kind: 'not-done', pipeline, span, expected, got: 'none' });
      }
      const findings = found.findings + unreported.length;
      const report: VerifyReport = { ...found, findings, proven: findings === 0, requests };
      onEvent?.(report);
      return report;
    }
    if (isCatalogStale) {
      attempts.end('catalog');
      await rebuildCatalog({ ...inspection.warehouse, registry });
    } else if (isLedgerBroken) {
      attempts.count('ledger');
      await inspection.warehouse.fillLedger({ effects, command: REPAIR_COMMAND });
    } else if (undeclared.length > 0) {
      attempts.end('declarations');
      await inspection.warehouse.restoreDeclarations(undeclared, { effects, command: REPAIR_COMMAND });
    } else if (plan.damages.length > 0) {
      requests += await repairOnce(all, inspection, plan, attempts);
    } else await rebuildMarts(all, inspection, marts, attempts);
  }
}

/** True if the catalog has an entry that the ledger lacks. */
function showsLost({ findings, warehouse }: Inspection): boolean {
  return findings.some(({ kind }) => kind === 'commit-unknown') || warehouse.lost.some(({ isGap }) => !isGap);
}

/** True if a finding already covers the blocks of a lost entry. */
function isReported(findings: readonly Finding[], lost: Lost): boolean {
  return findings.some(
    ({ kind, pipeline, span }) =>
      kind === 'not-done' &&
      pipeline === lost.pipeline &&
      span !== undefined &&
      subtractSpans([lost.span], [span]).length === 0,
  );
}

/** Repairs the planned damages. @returns requests made */
async function repairOnce(
  options: Ready,
  { warehouse }: Inspection,
  plan: RepairPlan,
  attempts: Attempts,
): Promise<number> {
  const { effects, registry, concurrency, waitMs } = options;
  const session = await openSession({ ...options, effects, network: warehouse.network, command: REPAIR_COMMAND });
  const { source } = session;
  try {
    const { path, network, kind } = warehouse;
    const { tables } = registry;
    const store = await openStore({
      ...{ path, network, kind, tables, effects, setAside: plan.setAside, pipelines: registry.pipelines },
      command: REPAIR_COMMAND,
    });
    try {
      const stop = options.signal ?? new AbortController().signal;
      const heads = new HeadCheck();
      const work = {
        store,
        source,
        network,
        registry,
        effects,
        concurrency,
        waitMs,
        stop,
        heads,
        report: reportTo(options),
      };
      for (const damage of plan.damages) {
        const key = damageKey(damage);
        attempts.count(key);
        const { pipeline, span } = damage;
        const before = source.counts.requests;
        const fetch = async (spans: readonly Span[]) => refetch(work, damage, spans);
        const { failed, isChanged, isKeepable, fewer } = await repairUnlessGone(
          () => applyRepair({ store, tables, fetch, keepReadable: options.keepReadable === true }, damage),
          options,
          damage,
        );
        if (failed.length > 0 || !isChanged) attempts.end(key);
        if (fewer !== undefined) reportFewer(options, damage, fewer, isChanged);
        else if (!isChanged && isKeepable === true) reportKeepable(options, damage, failed);
        if (!isChanged) continue;
        const requests = source.counts.requests - before;
        const refetched = subtractSpans(damage.refetch, failed);
        options.onEvent?.({ event: 'repaired', pipeline: pipeline.name, span, refetched, requests });
      }
    } finally {
      await store.close();
    }
    return source.counts.requests;
  } finally {
    await session.close();
  }
}

/** Reports damage of rows of a past moment, which cannot be fetched again, as failed. */
async function repairUnlessGone(
  work: () => ReturnType<typeof applyRepair>,
  options: Ready,
  { pipeline, span }: Damage,
) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TonlakeError) || error.code !== 'gone') throw error;
    const { code, message } = error;
    options.onProblem?.({ event: 'problem', pipeline: pipeline.name, ...span, code, message });
    return { failed: [span], isChanged: false };
  }
}

/** Reports that the source returned fewer rows than were committed, and how to accept them. */
function reportFewer(
  { warehouse, onProblem }: Ready,
  { pipeline, span }: Damage,
  { table, rows, before }: FewerRows,
  isTaken: boolean,
): void {
  const blocks = formatSpans([span]);
  const keep = suggest('verify', '--repair --keep-readable', { warehouse });
  const outcome = isTaken ? 'what was read is kept' : `nothing is changed; hint: ${keep} takes what there is`;
  const message = `audit ${pipeline.name} ${blocks}: expected at least the ${counted(before, 'row')} of ${table} that were exported, got ${formatCount(rows)}; ${outcome}`;
  onProblem?.({ event: 'problem', pipeline: pipeline.name, ...span, code: 'fewer-rows', message });
}

/** Reports blocks that cannot be fetched, and how to keep their readable rows. */
function reportKeepable({ warehouse, onProblem }: Ready, { pipeline, span }: Damage, failed: readonly Span[]): void {
  const keep = suggest('verify', '--repair --keep-readable', { warehouse });
  const message = `audit ${pipeline.name} ${formatSpans([span])}: ${shortSpans(failed)} cannot be fetched, nothing is changed; hint: ${keep} keeps what can be read`;
  onProblem?.({ event: 'problem', pipeline: pipeline.name, ...span, code: 'keepable', message });
}

function reportTo({ onProblem }: Ready): (event: RunEvent) => void {
  return (event) => {
    if (event.event === 'problem' || event.event === 'quarantine') onProblem?.(event);
  };
}

/** Rebuilds damaged marts. One that cannot be built is reported, and not changed. */
async function rebuildMarts(
  { registry, effects, onEvent, onProblem }: Ready,
  { warehouse }: Inspection,
  marts: readonly DamagedMart[],
  attempts: Attempts,
): Promise<void> {
  const { path, network } = warehouse;
  for (const mart of marts) attempts.end(martKey(mart));
  const damaged = marts.flatMap(({ entry }) => entry ?? []);
  for (const [name, own] of groupBy(marts, (mart) => mart.name)) {
    const span = own[0]?.span ?? { from: 0, to: 0 };
    // Without `full`, days of lost entries are built anyway, unless their inputs are forgotten.
    const full = own.some(({ entry }) => entry !== undefined);
    const pipeline = martPipeline(name);
    try {
      const built = await buildMarts(path, { names: [name], full, damaged, network, registry, effects });
      if (!built.some((mart) => mart.name === name && mart.status === 'built')) continue;
      onEvent?.({ event: 'repaired', pipeline, span, refetched: [], requests: 0 });
    } catch (error) {
      if (!(error instanceof TonlakeError)) throw error;
      const { code, message } = error;
      onProblem?.({ event: 'problem', pipeline, ...span, code, message });
    }
  }
}
