import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobRecord } from '../jobs/run-record.ts';
import type { ScheduleEvent } from './warehouse-queue.ts';

/** Prometheus metrics of a schedule. */
export interface ScheduleMetrics {
  readonly contentType: string;
  readonly see: (event: ScheduleEvent) => void;
  /** Restores the last success of a job from an earlier process. */
  recall(record: JobRecord): void;
  text(): Promise<string>;
}

const SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400];

/** Creates metrics in their own registry. */
export function openMetrics(): ScheduleMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = metricsIn(registry);
  return {
    contentType: registry.contentType,
    see: (event) => count(metrics, event),
    recall: (record) => noteSuccess(metrics, record),
    text: () => registry.metrics(),
  };
}

type Metrics = ReturnType<typeof metricsIn>;

function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    runs: new Counter({
      ...{ name: 'tonlake_job_runs_total', help: 'Finished runs of a job, by result.', registers },
      labelNames: ['job', 'result'],
    }),
    duration: new Histogram({
      ...{ name: 'tonlake_job_duration_seconds', help: 'Duration of runs.', registers },
      ...{ labelNames: ['job'], buckets: SECONDS },
    }),
    stepSeconds: new Counter({
      ...{ name: 'tonlake_job_step_seconds_total', help: 'Time spent in the steps of a job, by kind.', registers },
      labelNames: ['job', 'step'],
    }),
    rows: new Counter({
      ...{ name: 'tonlake_job_rows_total', help: 'Rows added to tables by exports.', registers },
      labelNames: ['job', 'table'],
    }),
    forgotten: new Counter({
      ...{ name: 'tonlake_job_forgotten_rows_total', help: 'Rows that retentions removed from tables.', registers },
      labelNames: ['job', 'table'],
    }),
    requests: new Counter({
      ...{ name: 'tonlake_job_requests_total', help: 'API requests made by exports.', registers },
      labelNames: ['job'],
    }),
    success: new Gauge({
      name: 'tonlake_job_last_success_timestamp_seconds',
      ...{ help: 'Time of the last successful run.', registers, labelNames: ['job'] },
    }),
    next: new Gauge({
      name: 'tonlake_job_next_run_timestamp_seconds',
      ...{ help: 'Time at which the job is next due.', registers, labelNames: ['job'] },
    }),
    running: new Gauge({
      name: 'tonlake_job_running',
      ...{ help: '1 while the job is running.', registers, labelNames: ['job'] },
    }),
    missed: new Counter({
      name: 'tonlake_job_missed_runs_total',
      help: 'Runs that were missed and are caught up.',
      ...{ registers, labelNames: ['job'] },
    }),
  };
}

function count(metrics: Metrics, event: ScheduleEvent): void {
  const { runs, running, next, missed } = metrics;
  switch (event.event) {
    case 'watching':
      running.set({ job: event.job }, 0);
      for (const result of ['done', 'failed', 'interrupted']) runs.inc({ job: event.job, result }, 0);
      if (event.next !== undefined) next.set({ job: event.job }, Date.parse(event.next) / 1000);
      return;
    case 'missed':
      return missed.inc({ job: event.job }, event.count);
    case 'begin':
      return running.set({ job: event.job }, 1);
    case 'end':
      running.set({ job: event.job }, 0);
      return countRun(metrics, event.job, event.seconds, event.record);
    case 'problem':
      running.set({ job: event.job }, 0);
      return runs.inc({ job: event.job, result: 'failed' });
    case 'retry':
    case 'draining':
      return;
  }
}

function countRun(metrics: Metrics, job: string, seconds: number, record: JobRecord): void {
  metrics.runs.inc({ job, result: record.state });
  metrics.duration.observe({ job }, seconds);
  noteSuccess(metrics, record);
  for (const step of record.steps) {
    metrics.stepSeconds.inc({ job, step: step.kind }, step.seconds);
    const counter = step.kind === 'export' ? metrics.rows : step.kind === 'retention' ? metrics.forgotten : undefined;
    for (const [table, rows] of Object.entries(step.rows ?? {})) counter?.inc({ job, table }, rows);
    if (step.kind !== 'export') continue;
    metrics.requests.inc({ job }, step.requests ?? 0);
  }
}

function noteSuccess({ success }: Metrics, { job, state, attempts }: JobRecord): void {
  const endedAt = attempts.at(-1)?.endedAt;
  if (state === 'done' && endedAt !== undefined) success.set({ job }, Date.parse(endedAt) / 1000);
}
