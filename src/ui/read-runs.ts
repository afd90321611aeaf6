import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { intersectSpans, totalSize } from '../core/span.ts';
import { listFolder, statIfAny } from '../files/disk.ts';
import { daysText } from '../jobs/job-range.ts';
import { JobHistory, jobsFolder } from '../jobs/run-history.ts';
import { logPath } from '../jobs/run-log.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import { type PipelineStatus, storedSpans } from '../warehouse/query/status.ts';
import type { RunItem, RunProgress } from './ui-types.ts';

/** Maximum number of runs of a job. */
const MAX_RUNS = 100;
/** Number of newest logs of a job whose growth is noticed. */
const WATCHED_LOGS = 3;

/** The names of the jobs that ran on a warehouse. */
async function jobNames(folder: string): Promise<readonly string[]> {
  const names = await listFolder(folder);
  const kinds = await Promise.all(names.map((name) => statIfAny(join(folder, name))));
  return names.filter((_, at) => kinds[at]?.isDirectory() === true);
}

/**
 * The newest runs of all jobs on a warehouse, newest first. Records that cannot be read are left out.
 *
 * @param pipelines their status, for the progress of runs under way; undefined if it is not known
 */
export async function readRuns(warehouse: string, pipelines?: readonly PipelineStatus[]): Promise<readonly RunItem[]> {
  const names = await jobNames(await jobsFolder(warehouse));
  const runs = await Promise.all(
    names.map(async (name) => {
      const history = await JobHistory.open(warehouse, name);
      const records = await history.newest(MAX_RUNS);
      return Promise.all(records.map((record) => runItem(record, history, pipelines)));
    }),
  );
  return runs.flat().sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
}

/** True if a run is in progress. */
export function isUnderWay({ state }: Pick<RunItem, 'state'>): boolean {
  return state === 'running' || state === 'publishing';
}

function timeOf({ startedAt, due }: RunItem): string {
  return startedAt ?? due;
}

/** A run as the pages show it. A run whose process is gone is `killed`. */
export async function runItem(
  record: JobRecord,
  history: JobHistory,
  pipelines?: readonly PipelineStatus[],
): Promise<RunItem> {
  const { job, id, due, attempts, steps, error, trigger, range } = record;
  const [first, last] = [attempts[0], attempts.at(-1)];
  const seconds =
    first === undefined || last?.endedAt === undefined
      ? null
      : (Date.parse(last.endedAt) - Date.parse(last.startedAt)) / 1000;
  const state = await history.stateOf(record);
  return {
    job,
    id,
    state,
    due,
    trigger,
    startedAt: last?.startedAt ?? null,
    seconds,
    error: error?.message ?? null,
    attempts: attempts.length,
    range: daysText(range) ?? range?.blocks ?? null,
    progress: isUnderWay({ state }) ? progressOf(record, pipelines ?? []) : null,
    steps: steps.map(({ kind, name, status, seconds: took, message }) => ({
      kind,
      name,
      status,
      seconds: took,
      message: message ?? null,
    })),
  };
}

/** How many blocks of a run's range are done, over all of its pipelines. */
function progressOf({ range, pipelines: names }: JobRecord, pipelines: readonly PipelineStatus[]): RunProgress | null {
  if (range?.from === undefined || range.to === undefined || pipelines.length === 0) return null;
  const requested = { from: range.from, to: range.to };
  const done = names.map((name) => {
    const own = pipelines.find(({ pipeline }) => pipeline === name);
    return totalSize(intersectSpans([requested], own === undefined ? [] : storedSpans(own)));
  });
  const total = names.length * totalSize([requested]);
  return total === 0 ? null : { done: done.reduce((sum, count) => sum + count, 0), total };
}

/** Differs when a run begins, has a new line in its log, or ends. */
export async function stateOfRuns(warehouse: string): Promise<string> {
  const folder = await jobsFolder(warehouse);
  const parts = await Promise.all(
    (await jobNames(folder)).map(async (name) => {
      const own = join(folder, name);
      const logs = (await listFolder(own)).filter((each) => each.endsWith('.log')).sort();
      const watched = logs.slice(-WATCHED_LOGS).map((log) => logPath(own, { id: log.slice(0, -'.log'.length) }));
      const sizes = await Promise.all(watched.map(async (path) => (await statIfAny(path))?.size ?? 0));
      // A record is renamed into its folder.
      return [name, (await stat(own)).mtimeMs, ...sizes].join(' ');
    }),
  );
  return parts.join('\n');
}
