import type { Effects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { isReading } from './round-plan.ts';

/** Default maximum age of a reading of a changing list, in milliseconds. */
const REFRESH_MS = 3_600_000;
/** Minimum time between two attempts to read a list. */
const RETRY_MS = 60_000;

/** Decides when changing lists are read again: when the last reading in the ledger is too old. */
export class ReadingTimes {
  private readonly effects: Pick<Effects, 'now' | 'monotonic'>;
  private readonly refreshMs: Readonly<Record<string, number>>;
  /** Last attempt by name, on the monotonic clock. */
  private readonly attemptedAt = new Map<string, number>();

  constructor(effects: Pick<Effects, 'now' | 'monotonic'>, refreshMs: Readonly<Record<string, number>>) {
    this.effects = effects;
    this.refreshMs = refreshMs;
  }

  /** Names of the lists to read now. Counts as an attempt for each. */
  takeDue(pipelines: readonly PipelineDef[], ledger: readonly LedgerEntry[]): ReadonlySet<string> {
    const now = this.effects.monotonic();
    const due = pipelines.filter(isReading).filter(({ name }) => {
      const refreshMs = this.refreshMs[name] ?? REFRESH_MS;
      const sinceAttempt = now - (this.attemptedAt.get(name) ?? Number.NEGATIVE_INFINITY);
      return sinceAttempt >= Math.min(RETRY_MS, refreshMs) && this.ageOf(name, ledger) >= refreshMs;
    });
    for (const { name } of due) this.attemptedAt.set(name, now);
    return new Set(due.map(({ name }) => name));
  }

  private ageOf(name: string, ledger: readonly LedgerEntry[]): number {
    const last = ledger.findLast(({ pipeline, verdict }) => pipeline === name && verdict === 'accepted');
    const age = last === undefined ? -1 : this.effects.now() - Date.parse(last.committedAt);
    // The clock was set back after this reading.
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }
}

/** @throws {UsageError} if an interval is given for a pipeline that is not a changing list */
export function requireReadings(pipelines: readonly PipelineDef[], refreshMs: Readonly<Record<string, number>>): void {
  const wrong = pipelines.find((pipeline) => Object.hasOwn(refreshMs, pipeline.name) && !isReading(pipeline));
  if (wrong === undefined) return;
  throw usage(
    'a changing list with --refresh',
    `${wrong.name}, which grows with the chain`,
    `remove --refresh ${wrong.name}: it is followed block by block`,
  );
}
