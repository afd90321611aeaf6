import { relative } from 'node:path';
import { counted, formatCount, formatDuration } from '../core/format.ts';
import { formatTime } from '../core/time-zone.ts';
import { drawTable } from '../sql/text-table.ts';
import type { Job, JobIceberg } from './job.ts';
import { daysText } from './job-range.ts';
import { databasesOf, hasNothingNew, isOver, type JobRecord, type StepResult } from './run-record.ts';

/** `export transactions: done, 82,970 transactions (16 s)`: one line a step. */
export function describeStep({ kind, name, status, seconds, rows, requests, message }: StepResult): string {
  const counts = Object.entries(rows ?? {}).filter(([, count]) => count > 0);
  const facts = [
    ...counts.map(([table, count]) =>
      table === name && kind !== 'export' ? counted(count, 'row') : `${formatCount(count)} ${table}`,
    ),
    ...(requests === undefined ? [] : [counted(requests, 'request')]),
    ...(message === undefined ? [] : [message]),
  ];
  const what = kind === 'publish' ? `${name} ${name === '1' ? 'file' : 'files'}` : name;
  return `${kind} ${what}: ${[status, ...facts].join(', ')} (${formatDuration(seconds)})`;
}

/** The result of a run as text. */
export function describeRecord(record: JobRecord): string {
  const { job, state, range, network, outputs, attempts } = record;
  const named = daysText(range);
  const days = named === undefined ? '' : ` ${named}`;
  const blocks = range?.blocks === undefined ? '' : ` (${range.blocks})`;
  const idle = hasNothingNew(record) ? ', nothing new' : '';
  const again = attempts.length > 1 ? `, attempt ${attempts.length}` : '';
  const written = [...outputs.map(({ path }) => relative('.', path)), ...databasesOf(record)];
  const lines = state === 'done' ? written.map((each) => `  ${each}\n`).join('') : '';
  return `${state}: ${job}${days}${blocks} on ${network}${idle}${again}\n${lines}`;
}

/** Records as a table: due time, state, range, attempts, outputs, seconds of the finished steps, error. */
export async function describeHistory(
  records: readonly JobRecord[],
  stateOf: (record: JobRecord) => Promise<string>,
): Promise<string> {
  if (records.length === 0) return '  never ran\n';
  const rows: (readonly string[])[] = [];
  for (const record of records) {
    const { due, range, attempts, outputs, steps, error } = record;
    const seconds = steps.reduce((sum, step) => sum + step.seconds, 0);
    const written = record.state === 'done' ? outputs.length + databasesOf(record).length : 0;
    const span = daysText(range) ?? range?.blocks ?? (hasNothingNew(record) ? 'nothing new' : '');
    // A step counts when it has ended.
    const time = steps.length === 0 && !isOver(record.state) ? '' : seconds.toFixed(1);
    const counts = [String(attempts.length), String(written), time];
    rows.push([formatTime(Date.parse(due)), await stateOf(record), span, ...counts, error?.message ?? '']);
  }
  return drawTable(['due', 'state', 'range', 'attempts', 'outputs', 'seconds', 'error'], rows);
}

function describeIceberg({ catalog }: JobIceberg): string {
  return catalog === undefined ? 'publish iceberg' : `publish iceberg to ${catalog.uri} namespace ${catalog.namespace}`;
}

/** The steps of a job, for `job list`. */
export function describeJob(job: Job, nextRun: number | undefined): string {
  const names = (list: readonly string[] | undefined): string =>
    list === undefined ? 'all' : list.join(', ') || 'none';
  const next = nextRun === undefined ? '' : `, next ${formatTime(nextRun)}`;
  const schedule = job.schedule === undefined ? 'none' : `${job.schedule.cron} (${job.schedule.zone})${next}`;
  const { verify, compact, iceberg } = job;
  const upkeep = [
    ...(verify === undefined ? [] : [verify.repair ? 'verify and repair' : 'verify']),
    ...(compact ? ['compact'] : []),
    ...(iceberg === undefined ? [] : [describeIceberg(iceberg)]),
  ];
  const lines = [
    `ok: ${job.name} (${job.file})${job.doc === '' ? '' : `: ${job.doc}`}`,
    `  network    ${job.network} into ${job.warehouse}`,
    `  pipelines  ${names(job.pipelines)}`,
    `  days       of ${job.zone}, counted from ${job.clock === 'chain' ? 'the newest block' : 'the time of the run'}`,
    ...(upkeep.length === 0 ? [] : [`  upkeep     ${upkeep.join(', ')}`]),
    ...(job.retention === undefined
      ? []
      : [`  retention  ${formatCount(job.retention.keepDays)} days of ${job.retention.pipelines.join(', ')}`]),
    `  marts      ${names(job.marts)}`,
    `  checks     ${names(job.checks)}`,
    `  outputs    ${names([...job.outputs.map(({ output }) => output), ...job.databases.map(({ to, as }) => `${as} in ${to}`)])}`,
    `  schedule   ${schedule}`,
  ];
  return `${lines.join('\n')}\n`;
}
