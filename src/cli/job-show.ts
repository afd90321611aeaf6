import { JobError, usage } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { suggest } from '../core/suggest.ts';
import { formatTime } from '../core/time-zone.ts';
import { openJob } from '../jobs/check-job.ts';
import type { Job } from '../jobs/job.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { readLog } from '../jobs/run-log.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import { describeHistory, describeJob, describeRecord } from '../jobs/show-job.ts';
import { drawTable } from '../sql/text-table.ts';
import type { Context, ContextFlags } from './context.ts';
import { openJobs } from './job-files.ts';
import { refuseWithout } from './option-conflicts.ts';

interface ListFlags extends ContextFlags {
  /** Maximum number of runs that are shown. */
  readonly limit?: number;
}

/** `tonlake job list`: checks job files, and shows a job with its runs, or a line for each job of a folder. @throws {UsageError} */
export async function listJobs(context: Context<ListFlags>, paths: readonly string[]): Promise<void> {
  const { warehouse, limit = 20 } = context.flags;
  const now = Date.now();
  const opened = await Promise.all((await openJobs(paths, warehouse)).map(runsOf));
  const [only] = opened;
  if (only !== undefined && only.job.file === paths[0]) return showJob(context, only, now, limit);
  refuseWithout(context, 'a job file', ['limit'], (flag) => `name the file, or remove ${flag}`);
  const rows: (readonly string[])[] = [];
  for (const { job, history, records } of opened) {
    const last = records.at(-1);
    const state = last === undefined ? 'never ran' : await history.stateOf(last);
    const next = job.schedule?.times.after(now);
    const lastRun = last === undefined ? undefined : { due: last.due, state };
    context.print({ ...summaryOf(job, next), lastRun }, () => '');
    const schedule = job.schedule === undefined ? '' : `${job.schedule.cron} (${job.schedule.zone})`;
    rows.push([
      job.name,
      job.network,
      schedule,
      isoOf(next) ?? '',
      last === undefined ? '' : formatTime(Date.parse(last.due)),
      state,
    ]);
  }
  if (context.isJson) return;
  context.write(await drawTable(['job', 'network', 'schedule', 'next run', 'last run', 'state'], rows));
}

async function showJob(context: Context, one: OpenedJob, now: number, limit: number): Promise<void> {
  const { job, history } = one;
  const next = job.schedule?.times.after(now);
  const records = one.records.slice(-limit);
  const stateOf = (record: JobRecord): Promise<string> => history.stateOf(record);
  const runs = await Promise.all(records.map(async (record) => ({ ...record, state: await stateOf(record) })));
  const table = await describeHistory(records, stateOf);
  context.print({ ...summaryOf(job, next), runs }, () => `${describeJob(job, next)}${table}`);
}

/** `tonlake job log`. @throws {UsageError} `unknown-run` */
export async function showLog({ flags, write }: Context, file: string, id: string | undefined): Promise<void> {
  const { job, history, records } = await openRuns(file, flags.warehouse);
  const record = id === undefined ? records.at(-1) : records.find((each) => each.id === id);
  if (record === undefined) {
    throw usage(
      `a run of ${job.name}`,
      id ?? 'none',
      id === undefined
        ? 'the job has not run yet'
        : `${suggest('job list', `${shellWord(file)} --json`)} shows the ids`,
      { code: 'unknown-run' },
    );
  }
  for (const line of await readLog(history.folder, record)) write(`${line}\n`);
}

/** `tonlake job log --since`, for monitoring by cron. @throws {JobError} if no run has ended well within some time */
export async function requireRecent(context: Context, file: string, sinceMs: number): Promise<void> {
  const { job, records } = await openRuns(file, context.flags.warehouse);
  const endOf = ({ attempts }: JobRecord): number => Date.parse(attempts.at(-1)?.endedAt ?? '');
  const done = records.filter(({ state }) => state === 'done').sort((a, b) => endOf(a) - endOf(b));
  const last = done.at(-1);
  const from = Date.now() - sinceMs;
  if (last !== undefined && endOf(last) >= from) return context.print(last, describeRecord);
  const got = last === undefined ? 'none at all' : `the last one at ${formatTime(endOf(last))}`;
  throw new JobError(`job ${job.name}: expected a run that ended well since ${formatTime(from)}, got ${got}`, {
    hint: `${suggest('job list', shellWord(file))} shows the runs`,
  });
}

/** A job, and the records of its runs, oldest first. */
interface OpenedJob {
  readonly job: Job;
  readonly history: JobHistory;
  readonly records: readonly JobRecord[];
}

async function openRuns(file: string, warehouse: string | undefined): Promise<OpenedJob> {
  return runsOf(await openJob(file, { warehouse, now: Date.now() }));
}

async function runsOf(job: Job): Promise<OpenedJob> {
  const history = await JobHistory.open(job.warehouse, job.name);
  return { job, history, records: await history.read() };
}

function summaryOf(job: Job, next: number | undefined): Readonly<Record<string, unknown>> {
  const { name, file, doc, network, warehouse, pipelines, zone, clock, retention } = job;
  const { marts, checks, outputs, databases, schedule } = job;
  return {
    name,
    file,
    doc,
    network,
    warehouse,
    pipelines,
    zone,
    clock,
    retention,
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
  return ms === undefined ? undefined : formatTime(ms);
}
