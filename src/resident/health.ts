import type { Effects } from '../core/effects.ts';
import type { Waiting } from '../follow/follow-event.ts';
import type { FollowFigures, FollowStatus } from '../follow/follow-status.ts';
import type { ResidentEvent } from './resident.ts';

/** Time without activity after which following hangs: longer than a request with all retries. */
const SILENT_MS = 600_000;
/** The same for a job, whose steps may take long. */
const JOB_SILENT_MS = 3_600_000;

/**
 * `starting`: nothing is proven yet. `behind`: the lag exceeds the limit. `hanging`: no activity of the head for ten minutes; without a head,
 * no activity of a running job for an hour. `draining`: no further runs start.
 */
export type HealthStatus = 'ok' | 'starting' | 'behind' | 'hanging' | 'draining';

/** State of a scheduled job. Times are ISO 8601, UTC. */
export interface JobHealth {
  readonly job: string;
  readonly running: boolean;
  readonly next: string | undefined;
  /** Result of the last run in this process. */
  readonly last: string | undefined;
  readonly lastDue: string | undefined;
  /** True from the time by which a run was expected until one is done. */
  readonly late: boolean;
}

/** The followed head. */
export interface HeadHealth extends Partial<Pick<FollowFigures, 'head' | 'block' | 'holes' | 'oldestHole'>> {
  /** Age of the newest proven block. */
  readonly lagSeconds?: number | undefined;
  readonly maxLagSeconds: number;
  /** Why it cannot catch up; undefined if it can. */
  readonly waiting: string | undefined;
}

/** The response of `/healthz`. */
export interface HealthState extends Partial<HeadHealth> {
  readonly status: HealthStatus;
  readonly jobs: readonly JobHealth[];
}

/** Health of a resident process, collected from its events. A job that failed does not make it unhealthy. */
export class Health {
  readonly #effects: Pick<Effects, 'monotonic'>;
  /** Undefined if no head is followed. */
  readonly #maxLagMs: number | undefined;
  readonly #jobs = new Map<string, JobHealth>();
  /** Time of the last activity of each running job. */
  readonly #progress = new Map<string, number>();
  #status: FollowStatus | undefined;
  /** Why work waits; the newest reason is last. */
  readonly #waiting = new Map<Waiting, string>();
  #isDraining = false;

  /** @param maxLagMs lag above which the head is not healthy; undefined if none is followed */
  constructor(effects: Pick<Effects, 'monotonic'>, maxLagMs?: number) {
    this.#effects = effects;
    this.#maxLagMs = maxLagMs;
  }

  /** The head is followed from now on. */
  open(status: FollowStatus): void {
    this.#status = status;
  }

  /** Figures of the head; undefined before it is followed. */
  get figures(): FollowFigures | undefined {
    return this.#status?.read();
  }

  readonly see = (event: ResidentEvent): void => {
    if (event.event === 'waiting' || event.event === 'resumed') this.#waiting.delete(event.of);
    if (event.event === 'waiting') this.#waiting.set(event.of, event.message);
    else if (event.event === 'draining') this.#isDraining = true;
    else if (event.event === 'watching') this.#set(event.job, { running: false, next: event.next });
    else if (event.event === 'begin') this.#set(event.job, { running: true, lastDue: event.due });
    else if (event.event === 'end') {
      const { state } = event.record;
      this.#set(event.job, { running: false, last: state, ...(state === 'done' ? { late: false } : {}) });
    } else if (event.event === 'settled') this.#change(event.job, { last: 'done', lastDue: event.due, late: false });
    else if (event.event === 'late') this.#change(event.job, { late: true });
    else if (event.event === 'failed') this.#set(event.job, { running: false, last: 'failed' });
  };

  /** Records activity of a running job. */
  readonly noteProgress = (job: string): void => {
    this.#progress.set(job, this.#effects.monotonic());
  };

  /** Time since the last activity of each job, in milliseconds; 0 for jobs that do not run. */
  silence(): ReadonlyMap<string, number> {
    const now = this.#effects.monotonic();
    const of = ({ job, running }: JobHealth): number => (running ? now - (this.#progress.get(job) ?? now) : 0);
    return new Map([...this.#jobs.values()].map((each) => [each.job, of(each)]));
  }

  read(): HealthState {
    const { figures } = this;
    return { status: this.#judge(figures), ...this.#readHead(figures), jobs: [...this.#jobs.values()] };
  }

  #judge(figures: FollowFigures | undefined): HealthStatus {
    const maxLagMs = this.#maxLagMs;
    // A step of a job may take hours; beside a head, that is no reason to end the process.
    const isSilent = maxLagMs === undefined && [...this.silence().values()].some((ms) => ms > JOB_SILENT_MS);
    if (isSilent || (figures?.silentMs ?? 0) > SILENT_MS) return 'hanging';
    if (this.#isDraining) return 'draining';
    if (maxLagMs === undefined) return 'ok';
    if (figures?.seconds === undefined) return 'starting';
    return figures.seconds > maxLagMs / 1000 ? 'behind' : 'ok';
  }

  #readHead(figures: FollowFigures | undefined): HeadHealth | undefined {
    if (this.#maxLagMs === undefined) return undefined;
    const maxLagSeconds = this.#maxLagMs / 1000;
    const waiting = [...this.#waiting.values()].at(-1);
    if (figures === undefined) return { maxLagSeconds, waiting };
    const { head, block, holes, oldestHole, seconds } = figures;
    return { lagSeconds: seconds, maxLagSeconds, head, block, holes, oldestHole, waiting };
  }

  #set(job: string, change: Partial<JobHealth>): void {
    this.#change(job, change);
    this.noteProgress(job);
  }

  #change(job: string, change: Partial<JobHealth>): void {
    const none = { next: undefined, last: undefined, lastDue: undefined };
    const known = this.#jobs.get(job) ?? { job, running: false, late: false, ...none };
    this.#jobs.set(job, { ...known, ...change });
  }
}
