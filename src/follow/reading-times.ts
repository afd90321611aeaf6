import type { Effects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { isReading } from './round-plan.ts';

/** How old a reading of a changing list may be, in milliseconds, unless the user says otherwise. */
const REFRESH_MS = 3_600_000;
/** Minimum time between two tries if a list cannot be read. */
const RETRY_MS = 60_000;

/** Decides when changing lists are read again: when their last reading is too old, also one of an earlier process. */
export class ReadingTimes {
  private readonly effects: Pick<Effects, 'now' | 'monotonic'>;
  private readonly refreshMs: Readonly<Record<string, number>>;
  /** Last try by name, on the monotonic clock. */
  private readonly triedAt = new Map<string, number>();

  constructor(effects: Pick<Effects, 'now' | 'monotonic'>, refreshMs: Readonly<Record<string, number>>) {
    this.effects = effects;
    this.refreshMs = refreshMs;
  }

  /** Names of the lists to read now; they are not due again before some time has passed. */
  takeDue(pipelines: readonly PipelineDef[], ledger: readonly LedgerEntry[]): ReadonlySet<string> {
    const now = this.effects.monotonic();
    const due = pipelines.filter(isReading).filter(({ name }) => {
      const refreshMs = this.refreshMs[name] ?? REFRESH_MS;
      const tried = now - (this.triedAt.get(name) ?? Number.NEGATIVE_INFINITY);
      return tried >= Math.min(RETRY_MS, refreshMs) && this.ageOf(name, ledger) >= refreshMs;
    });
    for (const { name } of due) this.triedAt.set(name, now);
    return new Set(due.map(({ name }) => name));
  }

  private ageOf(name: string, ledger: readonly LedgerEntry[]): number {
    const last = ledger.findLast(({ pipeline, verdict }) => pipeline === name && verdict === 'accepted');
    const age = last === undefined ? -1 : this.effects.now() - Date.parse(last.committedAt);
    // A reading from the future was made before the clock was set back.
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }
}

/** @throws {UsageError} `no-readings` if a cadence is given for something else than a changing list */
export function requireReadings(pipelines: readonly PipelineDef[], refreshMs: Readonly<Record<string, number>>): void {
  const wrong = pipelines.find((pipeline) => Object.hasOwn(refreshMs, pipeline.name) && !isReading(pipeline));
  if (wrong === undefined) return;
  throw usage('a changing list with --refresh', `${wrong.name}, which grows with the chain`, {
    code: 'no-readings',
    hint: `remove --refresh ${wrong.name}: it is followed block by block`,
  });
}
