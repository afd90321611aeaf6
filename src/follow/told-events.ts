import { addCounts, type Counts } from '../core/counts.ts';
import type { Effects } from '../core/effects.ts';
import type { RunEvent } from '../export/run.ts';
import type { FollowEvent } from './follow-event.ts';

/** How long a problem that comes again is not told. */
const QUIET_MS = 3_600_000;

/** Passes events on, each problem once an hour: a block that cannot be proven fails in every try. Counts committed rows. */
export class ToldEvents {
  private readonly effects: Pick<Effects, 'monotonic'>;
  private readonly listener: ((event: FollowEvent) => void) | undefined;
  private readonly toldAt = new Map<string, number>();
  private committed: Counts = {};

  constructor(effects: Pick<Effects, 'monotonic'>, listener: ((event: FollowEvent) => void) | undefined) {
    this.effects = effects;
    this.listener = listener;
  }

  /** Called for every event, also for those that are not passed on. */
  onAny: () => void = () => undefined;

  readonly tell = (event: FollowEvent): void => {
    this.onAny();
    if (event.event === 'span') this.committed = addCounts(this.committed, event.rows);
    // The pipeline that lacks the blocks has told why.
    if (event.event === 'problem' && event.code === 'need-not-done') return;
    const problem = problemOf(event);
    if (problem === undefined || this.isNews(problem)) this.listener?.(event);
  };

  /** Rows that were committed, by table, also those that replaced earlier ones. */
  get rows(): Counts {
    return this.committed;
  }

  private isNews(problem: string): boolean {
    const now = this.effects.monotonic();
    for (const [old, at] of this.toldAt) if (now - at >= QUIET_MS) this.toldAt.delete(old);
    if (this.toldAt.has(problem)) return false;
    this.toldAt.set(problem, now);
    return true;
  }
}

/** What a problem is about; undefined for other events. */
function problemOf(event: FollowEvent | RunEvent): string | undefined {
  if (event.event === 'problem') return `${event.pipeline} ${event.from}:${event.to} ${event.code}`;
  if (event.event === 'quarantine') return `${event.pipeline} ${event.seqno} ${event.pointer}`;
  // A select that is wrong fails at each try.
  if (event.event === 'mart-failed') return `${event.mart} ${event.message}`;
  return undefined;
}
