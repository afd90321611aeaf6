import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { FollowFigures } from '../follow/follow-status.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import type { Health } from './health.ts';
import type { ResidentEvent } from './resident.ts';

/** Gauges of the head, and the figure that each shows. */
const HEAD_GAUGES: readonly (readonly [
  name: string,
  help: string,
  of: (figures: FollowFigures) => number | undefined,
])[] = [
  ['lag_seconds', 'Age of the newest proven block.', ({ seconds }) => seconds],
  ['lag_blocks', 'Blocks from the newest proven one to the head.', ({ head, block }) => block && head - block],
  ['head_block', 'Newest masterchain block of the index.', ({ head }) => head],
  ['proven_block', 'Newest masterchain block that all followed pipelines have.', ({ block }) => block],
  ['missing_blocks', 'Blocks before the newest proven one that are not proven.', ({ holes }) => holes],
  ['oldest_hole_block', 'The first of the missing blocks; absent if there is none.', ({ oldestHole }) => oldestHole],
  ['files', 'Files of the warehouse.', ({ files }) => files],
  ['quarantined_records', 'Records that could not be decoded.', ({ quarantined }) => quarantined],
  ['rate_limit_rps', 'Maximum of requests per second; absent without a limit.', ({ rps }) => rps],
  [
    'rate_limit_used_ratio',
    'Share of it that was used over the last minute.',
    ({ rps, requestsPerSecond: used }) => rps && used / rps,
  ],
  ['progress_age_seconds', 'Time without any sign of life.', ({ silentMs }) => silentMs / 1000],
];

const SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400];

/** Prometheus metrics of a resident process. Those of jobs start with 0. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #head: ReturnType<typeof headMetrics> | undefined;
  readonly #jobs: ReturnType<typeof jobMetrics> | undefined;
  readonly #health: Health;

  /** @param shows what the process does: it follows the head, or runs jobs */
  constructor(health: Health, shows: { readonly head: boolean; readonly jobs: readonly string[] }) {
    this.#health = health;
    collectDefaultMetrics({ register: this.#registry });
    if (shows.head) this.#head = headMetrics(this.#registry);
    if (shows.jobs.length > 0) this.#jobs = jobMetrics(this.#registry, health);
    for (const job of shows.jobs) this.#jobs?.begin(job);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Restores the last success of a job from an earlier process. */
  recall(record: JobRecord): void {
    this.#jobs?.succeeded(record);
  }

  readonly see = (event: ResidentEvent): void => {
    this.#head?.see(event);
    this.#jobs?.see(event);
  };

  text(): Promise<string> {
    const { figures } = this.#health;
    if (figures !== undefined) this.#head?.read(figures);
    this.#jobs?.read();
    return this.#registry.metrics();
  }
}

function headMetrics(registry: Registry) {
  const { counter, gauge } = makers(registry, 'tonlake_follow_');
  const gauges = HEAD_GAUGES.map(([name, help, of]) => [gauge(name, help), of] as const);
  const requests = counter('requests_total', 'Requests, by outcome.', 'outcome');
  const commits = counter('commits_total', 'Commits of rows.', 'pipeline');
  const waits = counter('waits_total', 'Times that something kept it from catching up.', 'code');
  const merges = counter('merges_total', 'Merges of small files, by result.', 'result');
  const builds = counter('mart_builds_total', 'Builds of marts, by result.', 'mart', 'result');
  const martLags = gauge('mart_lag_seconds', 'How long a mart has lacked committed rows.', 'mart');
  return {
    see: (event: ResidentEvent): void => {
      if (event.event === 'span') commits.inc({ pipeline: event.pipeline });
      if (event.event === 'merged') merges.inc({ result: 'merged' });
      if (event.event === 'merge-failed') merges.inc({ result: 'failed' });
      if (event.event === 'mart') builds.inc({ mart: event.name, result: 'built' });
      if (event.event === 'mart-failed') builds.inc({ mart: event.mart, result: 'failed' });
      if (event.event === 'waiting') waits.inc({ code: event.code });
    },
    read: (figures: FollowFigures): void => {
      for (const [shown, of] of gauges) {
        const value = of(figures);
        if (value === undefined) shown.remove();
        else shown.set(value);
      }
      for (const [mart, seconds] of Object.entries(figures.martLags)) martLags.set({ mart }, seconds);
      requests.reset();
      for (const [outcome, count] of Object.entries(figures.requests)) requests.inc({ outcome }, count);
    },
  };
}

function jobMetrics(registry: Registry, health: Health) {
  const { counter, gauge } = makers(registry, 'tonlake_job_');
  const runs = counter('runs_total', 'Finished runs of a job, by result.', 'job', 'result');
  const duration = new Histogram({
    name: 'tonlake_job_duration_seconds',
    help: 'Duration of runs.',
    registers: [registry],
    labelNames: ['job'],
    buckets: SECONDS,
  });
  const stepSeconds = counter('step_seconds_total', 'Time spent in the steps of a job, by kind.', 'job', 'step');
  const rows = counter('rows_total', 'Rows added to tables by exports.', 'job', 'table');
  const forgotten = counter('forgotten_rows_total', 'Rows that retentions removed from tables.', 'job', 'table');
  const requests = counter('requests_total', 'API requests made by exports.', 'job');
  const missed = counter('missed_runs_total', 'Runs that were missed and are caught up.', 'job');
  const dropped = counter('dropped_runs_total', 'Waiting runs that were dropped because newer ones were due.', 'job');
  const success = gauge('last_success_timestamp_seconds', 'Time of the last successful run.', 'job');
  const next = gauge('next_run_timestamp_seconds', 'Time at which the job is next due.', 'job');
  const running = gauge('running', '1 while the job is running.', 'job');
  const late = gauge('late', '1 from the time by which a run was expected until one is done.', 'job');
  const silence = gauge(
    'progress_age_seconds',
    'Time since a running job last did something; 0 while it does not run.',
    'job',
  );
  const succeeded = ({ job, state, attempts }: JobRecord): void => {
    const endedAt = attempts.at(-1)?.endedAt;
    if (state === 'done' && endedAt !== undefined) success.set({ job }, Date.parse(endedAt) / 1000);
  };
  const countRun = (job: string, seconds: number, record: JobRecord): void => {
    runs.inc({ job, result: record.state });
    duration.observe({ job }, seconds);
    succeeded(record);
    for (const step of record.steps) {
      stepSeconds.inc({ job, step: step.kind }, step.seconds);
      const counted = step.kind === 'export' ? rows : step.kind === 'retention' ? forgotten : undefined;
      for (const [table, count] of Object.entries(step.rows ?? {})) counted?.inc({ job, table }, count);
      if (step.kind === 'export') requests.inc({ job }, step.requests ?? 0);
    }
  };
  return {
    succeeded,
    begin: (job: string): void => {
      for (const result of ['done', 'failed', 'interrupted']) runs.inc({ job, result }, 0);
      for (const counted of [requests, missed, dropped]) counted.inc({ job }, 0);
      for (const shown of [success, running, late, silence]) shown.set({ job }, 0);
      duration.zero({ job });
    },
    see: (event: ResidentEvent): void => {
      if (event.event === 'missed') missed.inc({ job: event.job }, event.count);
      if (event.event === 'dropped') dropped.inc({ job: event.job }, event.count);
      if (event.event === 'settled') succeeded(event.record);
      if (event.event === 'end') countRun(event.job, event.seconds, event.record);
      if (event.event === 'failed') runs.inc({ job: event.job, result: 'failed' });
    },
    read: (): void => {
      for (const { job, ...state } of health.read().jobs) {
        running.set({ job }, Number(state.running));
        late.set({ job }, Number(state.late));
        if (state.next !== undefined) next.set({ job }, Date.parse(state.next) / 1000);
      }
      for (const [job, ms] of health.silence()) silence.set({ job }, ms / 1000);
    },
  };
}

function makers(registry: Registry, prefix: string) {
  const registers = [registry];
  return {
    gauge: (name: string, help: string, ...labelNames: readonly string[]) =>
      new Gauge({ name: `${prefix}${name}`, help, labelNames, registers }),
    counter: (name: string, help: string, ...labelNames: readonly string[]) =>
      new Counter({ name: `${prefix}${name}`, help, labelNames, registers }),
  };
}
