import { setImmediate } from 'node:timers/promises';
import type { Effects } from '../core/effects.ts';
import type { Registry } from '../declare/registry.ts';
import type { CommitStep, LedgerEntry, SideConnection, Store } from '../warehouse/index.ts';
import { buildMart, type MartBuiltEvent } from './build-marts.ts';
import type { MartDef } from './load-marts.ts';
import { pipelinesBehind } from './mart-inputs.ts';
import { type MartContext, readMartContext, type SliceWork } from './mart-slices.ts';

interface BackgroundMartsOptions {
  /** All marts, each after those that it reads. */
  readonly marts: readonly MartDef[];
  /** Those to keep current, in the same order. */
  readonly chosen: readonly MartDef[];
  readonly registry: Registry;
  readonly network: string;
  readonly effects: Effects;
  /** Maximum share of the time that builds take, from 0 to 1. Default 0.1. */
  readonly share?: number | undefined;
  readonly onEvent?: ((event: MartBuiltEvent) => void) | undefined;
  /** Called when a mart could not be built; it is retried after a minute. */
  readonly onFailure?: ((mart: string, error: unknown) => void) | undefined;
}

const SHARE = 0.1;
/** Maximum of unused time that is saved for later, in milliseconds. */
const MAX_CREDIT_MS = 6_000;
/** Minimum time between two builds of the same day, and between two comparisons of a mart: an open day changes with every commit. */
const REBUILD_MS = 60_000;
const AFTER_FAILURE_MS = 60_000;
/** Maximum number of days of one mart before the turn of the next one. */
const TURN_DAYS = 4;

/** State of a mart. */
interface Progress {
  /** Number of the newest entry of which the mart lacks nothing. */
  checked: number;
  /** Time since which it is stale, on the monotonic clock. */
  behindSince: number | undefined;
  /** Earliest time of the next comparison, on the monotonic clock. */
  dueAt: number;
  /** When days were built, on the monotonic clock; `all` for a mart that is not built day by day. */
  readonly builtAt: Map<string, number>;
}

/**
 * Rebuilds marts that commits made stale, within a share of the time. It has its own connection, so that
 * no commit waits for a select.
 */
export class BackgroundMarts implements CommitStep {
  readonly #options: BackgroundMartsOptions;
  readonly #progress: ReadonlyMap<MartDef, Progress>;
  /** Names of the pipelines behind each mart. */
  readonly #behind: ReadonlyMap<MartDef, ReadonlySet<string>>;
  #connection: SideConnection | undefined;
  #work: Promise<void> | undefined;
  /** Time available for builds, in milliseconds. */
  #credit = MAX_CREDIT_MS;
  /** Time of the last update of the credit. */
  #countedAt: number;
  /** Index of the next mart. */
  #turn = 0;
  #isStopped = false;

  constructor(options: BackgroundMartsOptions) {
    const { chosen, effects, registry, marts } = options;
    this.#options = options;
    this.#countedAt = effects.monotonic();
    this.#progress = new Map(
      chosen.map((mart) => [
        mart,
        { checked: 0, behindSince: undefined, dueAt: Number.NEGATIVE_INFINITY, builtAt: new Map() },
      ]),
    );
    const headers = registry.playing('headers').pipeline.name;
    this.#behind = new Map(chosen.map((mart) => [mart, new Set([...pipelinesBehind(registry, marts, mart), headers])]));
  }

  committed(store: Store): void {
    this.look(store);
  }

  /** Starts to build if a mart is stale and there is credit. */
  look(store: Store): void {
    if (this.#isStopped) return;
    this.#noteChanges(store.ledger());
    if (this.#work !== undefined || this.#countCredit() < 0) return;
    this.#work = this.#build(store).finally(() => {
      this.#work = undefined;
    });
  }

  /** Waits until nothing is being built. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** Cancels the running select. */
  async end(): Promise<void> {
    this.#isStopped = true;
    this.#connection?.interrupt();
    await this.idle();
    await this.#connection?.close();
  }

  /** Time since which each mart is stale, in seconds; 0 for a current one. */
  lags(): Readonly<Record<string, number>> {
    const now = this.#options.effects.monotonic();
    return Object.fromEntries(
      [...this.#progress].map(([{ name }, { behindSince: since }]) => [
        name,
        since === undefined ? 0 : Math.round(now - since) / 1000,
      ]),
    );
  }

  #noteChanges(ledger: readonly LedgerEntry[]): void {
    const now = this.#options.effects.monotonic();
    for (const [mart, progress] of this.#progress) {
      if (this.#newest(mart, ledger) > progress.checked) progress.behindSince ??= now;
    }
  }

  /** Number of the newest entry that may change a mart. */
  #newest(mart: MartDef, ledger: readonly LedgerEntry[]): number {
    const pipelines = this.#behind.get(mart);
    const newest = ledger.findLast(
      ({ pipeline, tables }) =>
        pipelines?.has(pipeline) === true || mart.inputs.some((name) => Object.hasOwn(tables, name)),
    );
    return newest?.number ?? 0;
  }

  #countCredit(): number {
    const { effects, share = SHARE } = this.#options;
    const now = effects.monotonic();
    this.#credit = Math.min(MAX_CREDIT_MS, this.#credit + (now - this.#countedAt) * share);
    this.#countedAt = now;
    return this.#credit;
  }

  /** Updates the marts in turn while there is credit. */
  async #build(store: Store): Promise<void> {
    const { chosen, effects, onFailure } = this.#options;
    let context: MartContext | undefined;
    for (let turns = 0; turns < chosen.length && !this.#isStopped && this.#countCredit() >= 0; turns++) {
      const mart = chosen[this.#turn];
      this.#turn = (this.#turn + 1) % chosen.length;
      const progress = mart && this.#progress.get(mart);
      if (mart === undefined || progress === undefined || !this.#isDue(store, mart, progress)) continue;
      const startedAt = effects.monotonic();
      try {
        context ??= await this.#openContext(store);
        await this.#update(context, mart, progress);
      } catch (error) {
        if (this.#isStopped) return;
        progress.dueAt = effects.monotonic() + AFTER_FAILURE_MS;
        onFailure?.(mart.name, error);
      }
      this.#credit -= effects.monotonic() - startedAt;
      // Gives requests and commits a turn between two marts.
      await setImmediate();
    }
  }

  #isDue(store: Store, mart: MartDef, { checked, dueAt }: Progress): boolean {
    return this.#options.effects.monotonic() >= dueAt && this.#newest(mart, store.ledger()) > checked;
  }

  async #openContext(store: Store): Promise<MartContext> {
    const { marts, registry, network, effects } = this.#options;
    this.#connection ??= await store.connect();
    return readMartContext({ store, connection: this.#connection, network, effects, marts, registry });
  }

  async #update(context: MartContext, mart: MartDef, progress: Progress): Promise<void> {
    const { effects, onEvent } = this.#options;
    const now = effects.monotonic();
    const ledger = (): readonly LedgerEntry[] => context.store.ledger();
    const newest = this.#newest(mart, ledger());
    let left: readonly SliceWork[] = [];
    const build = await buildMart(context, mart, {
      choose: (work) => {
        const due = dueOf(work, progress.builtAt, now);
        left = work.filter((each) => !due.includes(each));
        return due;
      },
    });
    for (const day of mart.isDaily ? build.days : ['all']) progress.builtAt.set(day, now);
    if (left.length === 0) progress.checked = newest;
    // Stale since the plan: later commits are not in the build.
    if (build.status === 'built' || left.length === 0) {
      progress.behindSince = left.length === 0 && this.#newest(mart, ledger()) === newest ? undefined : now;
    }
    const hasBacklog = left.some(({ slice: { date = 'all' } }) => !progress.builtAt.has(date));
    progress.dueAt = hasBacklog ? now : now + REBUILD_MS;
    if (build.status === 'built') onEvent?.({ event: 'mart', ...build });
  }
}

/** Slices that were not built within the last minute, the newest first. */
function dueOf(work: readonly SliceWork[], builtAt: Map<string, number>, now: number): readonly SliceWork[] {
  for (const [day, at] of builtAt) if (now - at >= REBUILD_MS) builtAt.delete(day);
  const due = work.filter(({ slice: { date = 'all' } }) => !builtAt.has(date));
  return due.reverse().slice(0, TURN_DAYS);
}
