import { resolve } from 'node:path';
import type { RangeEnd, RangePart } from '../chain/range-part.ts';
import { UsageError } from '../core/errors.ts';
import { addDays, dateAt, dayStart } from '../core/time-zone.ts';
import { loadRegistry, type Registry } from '../declare/registry.ts';
import { bindsRows } from '../verify/plan-forget.ts';
import { firstKeptDay } from '../verify/retention.ts';
import type { Job, JobRetention } from './job.ts';
import { wrongName, wrongValue } from './job-fault.ts';
import type { JobRange } from './job-range.ts';
import type { JobNames } from './known-names.ts';
import type { ParsedJob } from './parse-job.ts';

const HOUR_MS = 3_600_000;

/** What a job says of the age of rows, with every name found good. @throws {UsageError} that tells line and column */
export async function checkRetention(parsed: ParsedJob, names: JobNames): Promise<JobRetention | undefined> {
  const { fields, yaml } = parsed;
  const { retention } = fields;
  if (retention === undefined) return undefined;
  const registry = await loadRegistry();
  retention.pipelines?.forEach((name, at) => {
    const path = ['retention', 'pipelines', at];
    if (!names.pipelines.includes(name)) throw wrongName(yaml, path, 'pipeline', names.pipelines);
    if (bindsRows(registry.pipeline(name))) return;
    throw wrongValue(
      yaml,
      path,
      'a pipeline that is exported by blocks',
      'tonlake describe tells how each is exported',
    );
  });
  const exported = fields.pipelines.length === 0 ? [] : registry.toRun(fields.pipelines);
  const chosen = retention.pipelines ?? exported.map(({ name }) => name);
  if (!chosen.some((name) => bindsRows(registry.pipeline(name)))) {
    throw wrongValue(
      yaml,
      ['retention'],
      'pipelines that are exported by blocks',
      'retention: {keep: 90d, pipelines: [...]}',
    );
  }
  for (const name of chosen) {
    const needing = exported.find(
      (each) => bindsRows(each) && each.needs.includes(name) && !chosen.includes(each.name),
    );
    if (needing === undefined) continue;
    const hint = `${needing.name}, which the job exports, needs the rows of ${name}: add it, or take ${name} out`;
    throw wrongValue(yaml, ['retention', 'pipelines'], `${needing.name} beside ${name}`, hint);
  }
  return { keepDays: retention.keep, pipelines: inOrderOfNeeds(registry, chosen) };
}

/** What needs others comes before them. */
function inOrderOfNeeds(registry: Registry, names: readonly string[]): readonly string[] {
  const ordered = registry.inOrder(names).map(({ name }) => name);
  return ordered.filter((name) => names.includes(name)).reverse();
}

/**
 * Demands that a job exports nothing that it forgets.
 *
 * @param now milliseconds since 1970
 * @throws {UsageError} that tells line and column
 */
export function requireKeptRange(
  parsed: ParsedJob,
  job: Pick<Job, 'range' | 'zone' | 'clock' | 'retention'>,
  now: number,
) {
  if (job.retention === undefined || !reachesBehind(job, job.retention, now)) return;
  const { keepDays } = job.retention;
  const hint = `keep more days, or export fewer: what is older than ${keepDays} days would be exported to be forgotten`;
  throw wrongValue(parsed.yaml, ['range'], `a range within the ${keepDays} days that are kept`, hint);
}

/**
 * Demands that no job exports, night after night, what another one of the same warehouse forgets.
 *
 * @throws {UsageError}
 */
export function requireKeptRanges(jobs: readonly Job[], now: number): void {
  for (const { name, warehouse, retention } of jobs) {
    if (retention === undefined) continue;
    const other = jobs.find(
      (each) =>
        resolve(each.warehouse) === resolve(warehouse) &&
        each.pipelines.some((pipeline) => retention.pipelines.includes(pipeline)) &&
        reachesBehind(each, retention, now),
    );
    if (other === undefined) continue;
    throw new UsageError(
      `usage: expected jobs that export what ${warehouse} keeps, got ${other.name} (${other.file}), whose range is older than the ${retention.keepDays} days that ${name} keeps`,
      { code: 'bad-job', hint: `keep more days in ${name}, or export fewer in ${other.name}` },
    );
  }
}

/** Whether a range begins before what is kept. Of ranges in blocks nothing is known before they are fixed. */
function reachesBehind(
  { range, zone, clock }: Pick<Job, 'range' | 'zone' | 'clock'>,
  { keepDays }: JobRetention,
  now: number,
): boolean {
  const kept = dayStart(firstKeptDay(keepDays, now), 'UTC');
  return beginnings(range, zone, now, clock === 'wall').some((ms) => ms < kept);
}

/**
 * Moments in which the parts of a range begin, as far as they can be told. Days of other zones than UTC count as one more: whether a file
 * is right must not depend on the hour. `hasFixed`: also those that do not move with the run.
 */
function beginnings(range: JobRange, zone: string, now: number, hasFixed: boolean): readonly number[] {
  const today = dateAt(now, 'UTC');
  const daysAgo = (days: number): number => dayStart(addDays(today, -days - (zone === 'UTC' ? 0 : 1)), 'UTC');
  if (range.kind === 'days') return [daysAgo(range.count)];
  if (range.kind !== 'parts') return [];
  return range.parts.flatMap((part) => beginningOf(part, { zone, now, daysAgo, hasFixed }) ?? []);
}

interface Moment {
  readonly zone: string;
  readonly now: number;
  readonly daysAgo: (days: number) => number;
  readonly hasFixed: boolean;
}

function beginningOf({ from, to }: RangePart, moment: Moment): number | undefined {
  if (from.kind !== 'last') return startOf(from, moment);
  if (to.kind === 'open') return moment.now - from.hours * HOUR_MS;
  const end = startOf(to, moment);
  // The last day of a range belongs to it.
  return end === undefined ? undefined : end + (to.kind === 'time' ? 0 : 24 * HOUR_MS) - from.hours * HOUR_MS;
}

function startOf(end: RangeEnd, { zone, daysAgo, hasFixed }: Moment): number | undefined {
  if (end.kind === 'days-ago') return daysAgo(end.days);
  if (!hasFixed) return undefined;
  if (end.kind === 'date') return dayStart(end.date, zone);
  return end.kind === 'time' ? end.ms : undefined;
}
