import type { Effects } from '../../core/effects.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import type { CommitStep } from '../commit-step.ts';
import type { Store } from '../store.ts';
import { type CompactEvent, DEFAULT_TARGET_BYTES, mergeGroup } from './compact.ts';
import { stageMergeApart } from './merge-process.ts';
import { type MergeGroup, planMerges } from './plan-merges.ts';
import { stageMerge } from './stage-merge.ts';

export interface BackgroundMergeOptions {
  readonly tables: readonly TableDef[];
  readonly pipelines: readonly PipelineDef[];
  readonly effects: Effects;
  /** Maximum share of the time that merging takes, from 0 to 1. Default 0.1. */
  readonly share?: number | undefined;
  /** Maximum size of a merged file, in bytes. Default 128 MB. */
  readonly targetBytes?: number | undefined;
  /** True to run each merge in a process of its own, which frees its memory when it ends. Default false. */
  readonly isApart?: boolean | undefined;
  /** When aborted, failures are not reported: the signal that stops this process may have ended that of a merge. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: CompactEvent) => void) | undefined;
  /** Called with the error of a failed merge, which is tried again after a minute. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

const SHARE = 0.1;
const AFTER_FAILURE_MS = 60_000;
/** Pause between two removals of superseded files whose grace period is over. */
const CLEAR_MS = 600_000;

/**
 * Merges small files between the commits of a running writer, and removes superseded ones. Readers always see every row once. A DuckDB
 * warehouse has nothing to merge.
 */
export class BackgroundMerge implements CommitStep {
  readonly #options: BackgroundMergeOptions;
  #work: Promise<void> | undefined;
  /** On the monotonic clock. */
  #dueAt = Number.NEGATIVE_INFINITY;
  #clearAt: number;
  #isStopped = false;

  constructor(options: BackgroundMergeOptions) {
    this.#options = options;
    this.#clearAt = options.effects.monotonic() + CLEAR_MS;
  }

  /** Starts merging if it is due. */
  committed(store: Store): void {
    if (store.kind === 'duckdb' || this.#work !== undefined || this.#isStopped) return;
    if (this.#options.effects.monotonic() < this.#dueAt) return;
    this.#work = this.#merge(store).finally(() => {
      this.#work = undefined;
    });
  }

  /** Waits until nothing is being merged. */
  async idle(): Promise<void> {
    await this.#work;
  }

  /** Ends after the running merge. */
  async end(): Promise<void> {
    this.#isStopped = true;
    await this.idle();
  }

  async #merge(store: Store): Promise<void> {
    const { effects, share = SHARE } = this.#options;
    while (!this.#isStopped && effects.monotonic() >= this.#dueAt) {
      const startedAt = effects.monotonic();
      const { isDone, pauseMs } = await this.#mergeNext(store);
      const now = effects.monotonic();
      this.#dueAt = now + Math.max(pauseMs, ((now - startedAt) * (1 - share)) / share);
      if (isDone) return;
    }
  }

  async #mergeNext(store: Store): Promise<{ readonly isDone: boolean; readonly pauseMs: number }> {
    const { tables, effects, isApart, stop, onEvent, targetBytes = DEFAULT_TARGET_BYTES } = this.#options;
    const stage = isApart ? stageMergeApart : stageMerge;
    let group: MergeGroup | undefined;
    try {
      await this.#clear(store);
      [group] = planMerges(store.ledger(), { ...this.#options, targetBytes, now: effects.now() });
      if (group === undefined) return { isDone: true, pauseMs: 0 };
      const event = await mergeGroup(store, group, { tables, effects, stage });
      onEvent?.(event);
      return { isDone: false, pauseMs: 0 };
    } catch (error) {
      const inForce = new Set(store.ledger());
      // A commit has replaced one of the entries, and retired its files, in the meantime.
      if (group?.entries.every((entry) => inForce.has(entry)) === false) return { isDone: false, pauseMs: 0 };
      if (stop?.aborted !== true) this.#options.onFailure?.(error);
      return { isDone: true, pauseMs: AFTER_FAILURE_MS };
    }
  }

  async #clear(store: Store): Promise<void> {
    const now = this.#options.effects.monotonic();
    if (now < this.#clearAt) return;
    this.#clearAt = now + CLEAR_MS;
    await store.clearSuperseded();
  }
}
