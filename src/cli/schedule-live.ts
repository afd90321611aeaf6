import { openJob } from '../jobs/check-job.ts';
import { checkQueries } from '../jobs/check-queries.ts';
import { requireKeptRanges } from '../jobs/check-retention.ts';
import { jobActions } from '../jobs/default-actions.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, jobsPlace } from '../jobs/list-jobs.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { describeRecord } from '../jobs/show-job.ts';
import { fallbackWarehouse } from '../project/project-file.ts';
import { Health } from '../scheduler/health.ts';
import { type MetricsAddress, parseMetricsAddress, serveMetrics } from '../scheduler/metrics-server.ts';
import { runSchedule } from '../scheduler/scheduler.ts';
import type { ScheduleEvent } from '../scheduler/warehouse-queue.ts';
import type { Context, ContextFlags } from './context.ts';
import { limitHeap } from './v8-flags.ts';

export interface ScheduleFlags extends ContextFlags {
  readonly metrics?: string;
  /** Whether other machines may read the metrics. */
  readonly metricsPublic?: boolean;
  /** Seconds. */
  readonly drain: number;
}

/** How long after the drain the current step may take to stop; the next start resumes what is left. */
const LAST_MS = 30_000;

/** Runs a schedule until SIGTERM or Ctrl-C, with events on standard output as text or JSON. */
export async function scheduleLive(context: Context<ScheduleFlags>, paths: readonly string[]): Promise<void> {
  limitHeap();
  const { metrics, metricsPublic: isPublic = false, drain } = context.flags;
  const address = metrics === undefined ? undefined : parseMetricsAddress(metrics, isPublic);
  const jobs = await openJobs(paths.length === 0 ? [await jobsPlace()] : paths);
  const drainMs = drain * 1000;
  const stop = context.interruptedBy(() => void setTimeout(() => process.exit(1), drainMs + LAST_MS).unref());
  const health = address === undefined ? undefined : await serveHealth(address, jobs);
  try {
    await runSchedule({
      ...{ jobs, actions: jobActions, effects: context.effects, drain: stop, drainMs },
      onEvent: (event) => {
        health?.see(event);
        context.print(event, describeEvent);
      },
    });
  } finally {
    await health?.close();
  }
}

async function openJobs(paths: readonly string[]): Promise<readonly Job[]> {
  const files = (await Promise.all(paths.map(jobFiles))).flat();
  const jobs = await Promise.all(
    files.map((file) => openJob(file, { now: Date.now(), fallbackWarehouse: fallbackWarehouse() })),
  );
  for (const job of jobs) await checkQueries(job);
  requireKeptRanges(jobs, Date.now());
  return jobs;
}

interface ServedHealth {
  readonly see: (event: ScheduleEvent) => void;
  close(): Promise<void>;
}

/** Serves metrics and health, including the runs of earlier processes. */
async function serveHealth(address: MetricsAddress, jobs: readonly Job[]): Promise<ServedHealth> {
  const { openMetrics } = await import('../scheduler/metrics.ts');
  const metrics = openMetrics();
  for (const job of jobs) {
    for (const record of await (await JobHistory.open(job.warehouse, job.name)).read()) metrics.recall(record);
  }
  const health = new Health();
  const server = await serveMetrics(address, metrics, health);
  process.stderr.write(`metrics at http://${address.host}:${server.port}/metrics\n`);
  return {
    see: (event) => {
      metrics.see(event);
      health.see(event);
    },
    close: () => server.close(),
  };
}

function describeEvent(event: ScheduleEvent): string {
  switch (event.event) {
    case 'watching':
      return `${event.job}: next ${event.next ?? 'never'}\n`;
    case 'missed': {
      const older = event.givenUp ? ', older ones are dropped' : '';
      return `${event.job}: ${event.count} missed ${event.count === 1 ? 'run' : 'runs'} to catch up${older}\n`;
    }
    case 'begin':
      return `${event.job}: starting the run of ${event.due} (${event.trigger})\n`;
    case 'end': {
      const failure = event.record.error === undefined ? '' : `error: ${event.record.error.message}\n`;
      return `${describeRecord(event.record)}${failure}`;
    }
    case 'problem':
      return `${event.job}: the run of ${event.due} could not start: ${event.message}\n`;
    case 'retry':
      return `${event.job}: retrying the run of ${event.due} in ${event.seconds} s\n`;
    case 'draining':
      return 'draining: the current run may finish, no new run starts\n';
  }
}
