import { UsageError } from '../core/errors.ts';
import { type OpenJobOptions, openJob } from '../jobs/check-job.ts';
import { checkQueries } from '../jobs/check-queries.ts';
import { requireKeptRanges } from '../jobs/check-retention.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, shownState } from '../jobs/list-jobs.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { readLog } from '../jobs/run-log.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import { describeHistory, describeJob } from '../jobs/show-job.ts';
import { drawTable } from '../sql/text-table.ts';
import type { Context } from './context.ts';

/** `tonlake job check`. @throws {UsageError} for the first invalid file */
export async function checkFiles({ print }: Context, paths: readonly string[], options: OpenJobOptions): Promise<void> {
  const jobs: Job[] = [];
  for (const path of paths) {
    for (const file of await jobFiles(path)) {
      const job = await openJob(file, options);
      await checkQueries(job);
      jobs.push(job);
      const next = job.schedule?.times.after(options.now);
      print(summaryOf(job, next), () => describeJob(job, next));
    }
  }
  requireKeptRanges(jobs, options.now);
}

/** `tonlake job list`. */
export async function listFiles(context: Context, path: string, options: OpenJobOptions): Promise<void> {
  const rows: (readonly string[])[] = [];
  for (const file of await jobFiles(path)) {
    const { job, history, records } = await openRuns(file, options);
    const last = records.at(-1);
    const state = last === undefined ? 'never ran' : await shownState(last, history.folder);
    const next = job.schedule?.times.after(options.now);
    const lastRun = last === undefined ? undefined : { due: last.due, state };
    context.print({ ...summaryOf(job, next), lastRun }, () => '');
    const schedule = job.schedule === undefined ? '' : `${job.schedule.cron} (${job.schedule.zone})`;
    rows.push([job.name, job.network, schedule, isoOf(next) ?? '', last?.due.replace('.000Z', 'Z') ?? '', state]);
  }
  if (context.isJson) return;
  context.write(await drawTable(['job', 'network', 'schedule', 'next run', 'last run', 'state'], rows));
}

/** `tonlake job history`. */
export async function showHistory(
  context: Context,
  file: string,
  options: OpenJobOptions,
  limit: number,
): Promise<void> {
  const { history, records: all } = await openRuns(file, options);
  const records = all.slice(-limit);
  const stateOf = (record: JobRecord): Promise<string> => shownState(record, history.folder);
  if (!context.isJson) return context.write(await describeHistory(records, stateOf));
  for (const record of records) context.print({ ...record, state: await stateOf(record) }, () => '');
}

/** `tonlake job log`. @throws {UsageError} `unknown-run` */
export async function showLog(
  { write }: Context,
  file: string,
  options: OpenJobOptions,
  id: string | undefined,
): Promise<void> {
  const { job, history, records } = await openRuns(file, options);
  const record = id === undefined ? records.at(-1) : records.find((each) => each.id === id);
  if (record === undefined) {
    throw new UsageError(`usage: expected a run of ${job.name}, got ${id ?? 'none'}`, {
      code: 'unknown-run',
      hint: id === undefined ? 'the job has not run yet' : 'tonlake job history --json shows the ids',
    });
  }
  for (const line of await readLog(history.folder, record)) write(`${line}\n`);
}

/** A job, and the records of its runs, oldest first. */
async function openRuns(file: string, options: OpenJobOptions) {
  const job = await openJob(file, options);
  const history = await JobHistory.open(job.warehouse, job.name);
  return { job, history, records: await history.read() };
}

function summaryOf(job: Job, next: number | undefined): Readonly<Record<string, unknown>> {
  const { name, file, doc, network, warehouse, pipelines, zone, clock, retention } = job;
  const { marts, checks, outputs, databases, schedule } = job;
  return {
    ...{ name, file, doc, network, warehouse, pipelines, zone, clock, retention },
    marts: marts ?? 'all',
    checks: checks ?? 'all',
    outputs: outputs.map(({ output }) => output),
    databases: databases.map(({ to, as }) => ({ to, as })),
    schedule:
      schedule === undefined ? undefined : { cron: schedule.cron, zone: schedule.zone, catchUp: schedule.catchUp },
    next: isoOf(next),
  };
}

function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z');
}
