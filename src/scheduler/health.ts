import type { ScheduleEvent } from './warehouse-queue.ts';

/** State of a scheduled job. Times are ISO 8601, UTC. */
export interface JobHealth {
  readonly job: string;
  readonly running: boolean;
  readonly next: string | undefined;
  /** Result of the last run in this process. */
  readonly last: string | undefined;
  readonly lastDue: string | undefined;
}

export interface HealthState {
  /** `draining`: no further runs start. */
  readonly status: 'ok' | 'draining';
  readonly jobs: readonly JobHealth[];
}

/** The response of `/healthz`, collected from the events of a schedule. A failed job does not make the schedule unhealthy. */
export class Health {
  readonly #jobs = new Map<string, JobHealth>();
  #status: HealthState['status'] = 'ok';

  readonly see = (event: ScheduleEvent): void => {
    if (event.event === 'draining') this.#status = 'draining';
    else if (event.event === 'watching') this.#set(event.job, { running: false, next: event.next });
    else if (event.event === 'begin') this.#set(event.job, { running: true, lastDue: event.due });
    else if (event.event === 'end') this.#set(event.job, { running: false, last: event.record.state });
    else if (event.event === 'problem') this.#set(event.job, { running: false, last: 'failed' });
  };

  read(): HealthState {
    return { status: this.#status, jobs: [...this.#jobs.values()] };
  }

  #set(job: string, change: Partial<JobHealth>): void {
    const known = this.#jobs.get(job) ?? { job, running: false, next: undefined, last: undefined, lastDue: undefined };
    this.#jobs.set(job, { ...known, ...change });
  }
}
