import { type Effects, realEffects } from '../core/effects.ts';
import { TonlakeError } from '../core/errors.ts';
import { counted, formatCount } from '../core/format.ts';
import { groupBy } from '../core/group-by.ts';
import { formatSpans, type Span, shortSpans, subtractSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import type { Registry } from '../declare/registry.ts';
import type { FewerRows } from '../export/fewer-rows.ts';
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
import { expectedAgain, type Lost, lostIn, notBack } from './lost-entries.ts';
import { type Damage, type DamagedMart, damageKey, martKey, planRepair, type RepairPlan } from './plan-repair.ts';
import { refetch } from './refetch.ts';
import { type Inspection, inspectWarehouse, type VerifyOptions, type VerifyReport } from './verify.ts';

export interface RepairOptions
  extends VerifyOptions,
    Pick<SessionOptions, 'rps' | 'concurrency' | 'waitMs' | 'env' | 'signal' | 'onRetry'> {
  /** Called for blocks that could not be fetched again. */
  readonly onProblem?: ((event: Extract<WalkEvent, { readonly event: 'problem' | 'quarantine' }>) => void) | undefined;
  /** Keeps what can be read of blocks that the source no longer serves, as not done. Default false: their entries stay as they are. */
  readonly keepReadable?: boolean | undefined;
}

/** Shown to processes that wait for the lock. */
const REPAIR_COMMAND = 'tonlake verify --repair';

/** Attempts for the same damage; what still fails afterwards stays a finding. */
const TRIES = 2;

type Ready = Omit<RepairOptions, 'effects' | 'registry'> & { readonly effects: Effects; readonly registry: Registry };

/** Counts the attempts of a repair. */
class Attempts {
  readonly #counts = new Map<string, number>();

  isOver(key: string): boolean {
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
 * Verifies a warehouse and repairs the damage: rows of sound files are kept, marts rebuilt, and only the rest is fetched from the network. Each damaged entry is replaced in one commit, so a repair can be killed at any time. What cannot be fetched
 * stays as it is, and remains a finding.
 *
 * @throws {SourceError} {StoreError} if the repair cannot continue; finished repairs are kept
 */
export async function repairWarehouse(options: RepairOptions): Promise<VerifyReport> {
  const { effects = realEffects, onEvent } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry, () => {});
  const all: Ready = { ...options, effects, registry };
  const attempts = new Attempts();
  /** Blocks of lost entries, which must be done at the end. A repair of something else may take the number of the newest one, and hide it. */
  const left = new Map<string, Lost>();
  const told = new Set<string>();
  let requests = 0;
  for (;;) {
    const quiet: VerifyOptions = {
      ...all,
      // A stopped repair reports the remaining damage.
      signal: undefined,
      onEvent: (event) => {
        const text = JSON.stringify(event);
        if (event.event === 'finding' && !told.has(text)) onEvent?.(event);
        told.add(text);
      },
    };
    const { inspection, lost, plan } = await inspectWarehouse(quiet, async (inspection) => {
      for (const each of lostIn(inspection, registry)) left.set(`${each.pipeline} ${formatSpans([each.span])}`, each);
      const lost = [...left.values()].flatMap((each) => notBack(inspection.warehouse.entries, each));
      const plan = planRepair(inspection, registry, lost, (damage) => attempts.isOver(damageKey(damage)));
      return { inspection, lost, plan };
    });
    const marts = plan.marts.filter((mart) => !attempts.isOver(martKey(mart)));
    const isLedgerBroken = plan.isLedgerBroken && !attempts.isOver('ledger');
    const undeclared = attempts.isOver('declarations') ? [] : restorable(inspection.declarations, registry);
    const isIdle = !isLedgerBroken && undeclared.length + plan.damages.length + marts.length === 0;
    // Everything is there, but the catalog still shows lost entries.
    const isCatalogOld = isIdle && lost.length === 0 && showsLost(inspection) && !attempts.isOver('catalog');
    if ((isIdle && !isCatalogOld) || options.signal?.aborted === true) {
      const { report: found } = inspection;
      const untold = lost.filter((each) => !isTold(inspection.findings, each));
      for (const { pipeline, span } of untold) {
        const expected = expectedAgain({ pipeline, span });
        onEvent?.({ event: 'finding', kind: 'not-done', pipeline, span, expected, got: 'none' });
      }
      const findings = found.findings + untold.length;
      const report: VerifyReport = { ...found, findings, proven: findings === 0, requests };
      onEvent?.(report);
      return report;
    }
    if (isCatalogOld) {
      attempts.end('catalog');
      await rebuildCatalog(inspection.warehouse.path, registry);
    } else if (isLedgerBroken) {
      attempts.count('ledger');
      await inspection.warehouse.fillLedger({ effects, command: REPAIR_COMMAND });
    } else if (undeclared.length > 0) {
      attempts.end('declarations');
      await inspection.warehouse.restoreDeclarations(undeclared, { effects, command: REPAIR_COMMAND });
    } else if (plan.damages.length > 0) {
      requests += await repairOnce(all, inspection, plan, attempts);
    } else await buildAgain(all, inspection, marts, attempts);
  }
}

/** True if the catalog shows an entry that the ledger does not have. */
function showsLost({ findings, warehouse }: Inspection): boolean {
  return findings.some(({ kind }) => kind === 'commit-unknown') || warehouse.lost.some(({ isGap }) => !isGap);
}

/** True if a finding says that blocks of a lost entry are not there again. */
function isTold(findings: readonly Finding[], lost: Lost): boolean {
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
      const work = { store, source, network, registry, effects, concurrency, waitMs, stop, report: reportTo(options) };
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
        if (fewer !== undefined) tellFewer(options, damage, fewer, isChanged);
        else if (!isChanged && isKeepable === true) tellKeepable(options, damage, failed);
        if (!isChanged) continue;
        const requests = source.counts.requests - before;
        const asked = subtractSpans(damage.refetch, failed);
        options.onEvent?.({ event: 'repaired', pipeline: pipeline.name, span, refetched: asked, requests });
      }
    } finally {
      await store.close();
    }
    return source.counts.requests;
  } finally {
    await session.close();
  }
}

/** Rows of a past moment cannot be fetched again: they stay as they are. */
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

/** Says that the source has lost rows, or does not show them now, and how to take the rest. */
function tellFewer(
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

/** Says how to keep the rest of what the source no longer serves. */
function tellKeepable({ warehouse, onProblem }: Ready, { pipeline, span }: Damage, failed: readonly Span[]): void {
  const keep = suggest('verify', '--repair --keep-readable', { warehouse });
  const message = `audit ${pipeline.name} ${formatSpans([span])}: ${shortSpans(failed)} cannot be fetched, nothing is changed; hint: ${keep} keeps what can be read`;
  onProblem?.({ event: 'problem', pipeline: pipeline.name, ...span, code: 'keepable', message });
}

function reportTo({ onProblem }: Ready): (event: RunEvent) => void {
  return (event) => {
    if (event.event === 'problem' || event.event === 'quarantine') onProblem?.(event);
  };
}

/** Rebuilds damaged marts; one that cannot be built stays as it is. */
async function buildAgain(
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
    // A day of a lost entry is built without that, unless its inputs are forgotten.
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
