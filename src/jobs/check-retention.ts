import type { RangeEnd, RangePart } from '../chain/range-part.ts';
import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { addDays, dateAt, dayStart } from '../core/time-zone.ts';
import type { Registry } from '../declare/registry.ts';
import { bindsRows } from '../verify/plan-forget.ts';
import { firstRetainedDay } from '../verify/retention.ts';
import { warehousePath } from '../warehouse/index.ts';
import type { Job, JobRetention } from './job.ts';
import type { JobRange } from './job-range.ts';
import type { ParsedJob } from './parse-job.ts';

const HOUR_MS = 3_600_000;

/** Checks the retention of a job. @throws {UsageError} with line and column */
export function checkRetention({ fields, yaml }: ParsedJob, registry: Registry): JobRetention | undefined {
  const { retention } = fields;
  if (retention === undefined) return undefined;
  retention.pipelines?.forEach((name, at) => {
    const path = ['retention', 'pipelines', at];
    if (bindsRows(yaml.placed(path, () => registry.pipeline(name)))) return;
    throw yaml.wrongValue(
      path,
      'a pipeline that is exported by blocks',
      `${suggest('show', name)} shows how it is exported`,
    );
  });
  const exported = fields.pipelines.length === 0 ? [] : registry.toRun(fields.pipelines);
  const chosen = retention.pipelines ?? exported.map(({ name }) => name);
  if (!chosen.some((name) => bindsRows(registry.pipeline(name)))) {
    throw yaml.wrongValue(
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
    throw yaml.wrongValue(['retention', 'pipelines'], `${needing.name} beside ${name}`, hint);
  }
  return { keepDays: retention.keep, pipelines: inOrderOfNeeds(registry, chosen) };
}

/** Dependent pipelines come before those they need. */
function inOrderOfNeeds(registry: Registry, names: readonly string[]): readonly string[] {
  const ordered = registry.inOrder(names).map(({ name }) => name);
  return ordered.filter((name) => names.includes(name)).reverse();
}

/**
 * Requires that a job does not export blocks that its own retention removes.
 *
 * @param now milliseconds since 1970
 * @throws {UsageError} with line and column
 */
export function requireRetainedRange(
  parsed: ParsedJob,
  job: Pick<Job, 'range' | 'zone' | 'clock' | 'retention'>,
  now: number,
) {
  if (job.retention === undefined || !startsTooEarly(job, job.retention, now)) return;
  const { keepDays } = job.retention;
  const hint = `keep more days, or export fewer: rows older than ${keepDays} days would be exported and then forgotten`;
  throw parsed.yaml.wrongValue(['range'], `a range within the ${keepDays} days that are kept`, hint);
}

/**
 * Requires that no job exports what the retention of another job on the same warehouse removes.
 *
 * @throws {UsageError}
 */
export function requireRetainedRanges(jobs: readonly Job[], now: number): void {
  for (const { name, warehouse, retention } of jobs) {
    if (retention === undefined) continue;
    const other = jobs.find(
      (each) =>
        warehousePath(each.warehouse) === warehousePath(warehouse) &&
        each.pipelines.some((pipeline) => retention.pipelines.includes(pipeline)) &&
        startsTooEarly(each, retention, now),
    );
    if (other === undefined) continue;
    throw usage(
      `jobs that export what ${warehouse} keeps`,
      `${other.name} (${other.file}), whose range is older than the ${retention.keepDays} days that ${name} keeps`,
      `keep more days in ${name}, or export fewer in ${other.name}`,
    );
  }
}

/** True if a range starts before the first retained day; false for ranges in blocks, which are not resolved yet. */
function startsTooEarly(
  { range, zone, clock }: Pick<Job, 'range' | 'zone' | 'clock'>,
  { keepDays }: JobRetention,
  now: number,
): boolean {
  const firstMs = dayStart(firstRetainedDay(keepDays, now), 'UTC');
  return startTimes(range, zone, now, clock === 'wall').some((ms) => ms < firstMs);
}

/**
 * The start times of the parts of a range, as far as they are known. Days in zones other than UTC count as one day more, so that the check
 * does not depend on the hour. `hasFixed`: include fixed dates and times, not only those relative to the run.
 */
function startTimes(range: JobRange, zone: string, now: number, hasFixed: boolean): readonly number[] {
  const today = dateAt(now, 'UTC');
  const daysAgo = (days: number): number => dayStart(addDays(today, -days - (zone === 'UTC' ? 0 : 1)), 'UTC');
  if (range.kind === 'days') return [daysAgo(range.count)];
  if (range.kind !== 'parts') return [];
  return range.parts.flatMap((part) => startOfPart(part, { zone, now, daysAgo, hasFixed }) ?? []);
}

interface Moment {
  readonly zone: string;
  readonly now: number;
  readonly daysAgo: (days: number) => number;
  readonly hasFixed: boolean;
}

function startOfPart({ from, to }: RangePart, moment: Moment): number | undefined {
  if (from.kind !== 'last') return startOf(from, moment);
  if (to.kind === 'open') return moment.now - from.hours * HOUR_MS;
  const end = startOf(to, moment);
  // A range includes its last day.
  return end === undefined ? undefined : end + (to.kind === 'time' ? 0 : 24 * HOUR_MS) - from.hours * HOUR_MS;
}

function startOf(end: RangeEnd, { zone, daysAgo, hasFixed }: Moment): number | undefined {
  if (end.kind === 'days-ago') return daysAgo(end.days);
  if (!hasFixed) return undefined;
  if (end.kind === 'date') return dayStart(end.date, zone);
  return end.kind === 'time' ? end.ms : undefined;
}
