import { addCounts, type Counts } from '../core/counts.ts';
import type { Effects } from '../core/effects.ts';
import type { RunEvent } from '../export/run.ts';
import type { FollowEvent } from './follow-event.ts';

/** Time until a repeated problem is reported again. */
const QUIET_MS = 3_600_000;

/** Passes events on, and counts committed rows. A problem is reported once an hour: a block that cannot be proven fails in every round. */
export class EventReporter {
  private readonly effects: Pick<Effects, 'monotonic'>;
  private readonly listener: ((event: FollowEvent) => void) | undefined;
  private readonly reportedAt = new Map<string, number>();
  private committed: Counts = {};

  constructor(effects: Pick<Effects, 'monotonic'>, listener: ((event: FollowEvent) => void) | undefined) {
    this.effects = effects;
    this.listener = listener;
  }

  /** Called for every event, also for those that are not passed on. */
  onAny: () => void = () => undefined;

  readonly report = (event: FollowEvent): void => {
    this.onAny();
    if (event.event === 'span') this.committed = addCounts(this.committed, event.rows);
    // The pipeline that lacks the blocks has reported the cause.
    if (event.event === 'problem' && event.code === 'need-not-done') return;
    const problem = problemOf(event);
    if (problem === undefined || this.isDue(problem)) this.listener?.(event);
  };

  /** Committed rows by table, including those that replaced earlier ones. */
  get rows(): Counts {
    return this.committed;
  }

  private isDue(problem: string): boolean {
    const now = this.effects.monotonic();
    for (const [old, at] of this.reportedAt) if (now - at >= QUIET_MS) this.reportedAt.delete(old);
    if (this.reportedAt.has(problem)) return false;
    this.reportedAt.set(problem, now);
    return true;
  }
}

/** Identity of a repeatable problem; undefined for other events. */
function problemOf(event: FollowEvent | RunEvent): string | undefined {
  if (event.event === 'problem') return `${event.pipeline} ${event.from}:${event.to} ${event.code}`;
  if (event.event === 'quarantine') return `${event.pipeline} ${event.seqno} ${event.pointer}`;
  // A wrong select fails at every attempt.
  if (event.event === 'mart-failed') return `${event.mart} ${event.message}`;
  return undefined;
}
