import { readFile } from 'node:fs/promises';
import { type UsageError, usage } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { requireZone } from '../core/time-zone.ts';
import type { YamlPath as Path } from '../core/yaml.ts';
import { loadRegistry, type Registry } from '../declare/registry.ts';
import { type Selection, type SelectionPlace, selectFrom } from '../declare/selection.ts';
import { defaultWarehouse, resolveNetwork } from '../http/network.ts';
import { namespaceOf, parseUri, readCatalogConfig, requireCatalog } from '../iceberg/rest/catalog-config.ts';
import { fallbackWarehouse } from '../project/project-file.ts';
import { isReportPath, reportFile } from '../reports/find-report.ts';
import { shippedNames } from '../sql/shipped-queries.ts';
import { requireKind, warehousePath } from '../warehouse/index.ts';
import { checkRetention, requireRetainedRange } from './check-retention.ts';
import { checkTargets } from './check-targets.ts';
import { type CronTimes, openCron, outOfStep } from './cron.ts';
import type { Job, JobIceberg, JobSchedule } from './job.ts';
import { type JobRange, parseJobRange } from './job-range.ts';
import { type JobFields, noticeKeys } from './job-schema.ts';
import { type ParsedJob, readJob } from './parse-job.ts';

interface OpenJobOptions {
  /** Wall clock, milliseconds since 1970. */
  readonly now: number;
  /** Overrides the warehouse of the file, and that of the environment or the project, which apply if the file names none. */
  readonly warehouse?: string | undefined;
}

/** Reads a job file and checks every name, range, zone and path in it. @throws {UsageError} with line and column */
export async function openJob(file: string, options: OpenJobOptions): Promise<Job> {
  return checkJob(readJob(file), options);
}

/** @throws {UsageError} with line and column */
export async function checkJob(parsed: ParsedJob, options: OpenJobOptions): Promise<Job> {
  const { fields } = parsed;
  const network = parsed.yaml.placed(['network'], () => resolveNetwork(fields.network));
  const [registry, marts, checks] = await Promise.all([loadRegistry(), shippedNames('marts'), shippedNames('checks')]);
  for (const [at, name] of fields.pipelines.entries()) {
    parsed.yaml.placed(['pipelines', at], () => registry.pipeline(name));
  }
  const selection = checkSelection(parsed, registry);
  for (const at of fields.marts?.keys() ?? []) parsed.yaml.requireName(['marts', at], 'a mart', marts);
  for (const at of fields.checks?.keys() ?? []) parsed.yaml.requireName(['checks', at], 'a check', checks);
  const zone = checkZone(parsed, ['zone'], fields.zone);
  const range = checkRange(parsed);
  const { outputs, databases } = await checkTargets(parsed, [...registry.tables.map(({ name }) => name), ...marts]);
  parsed.yaml.placed(['warehouse'], () => fields.warehouse && warehousePath(fields.warehouse));
  for (const at of fields.notify.keys()) {
    parsed.yaml.requireOne(['notify', at], noticeKeys);
  }
  const clock = fields.clock ?? (network.kind === 'sandbox' ? 'chain' : 'wall');
  const retention = checkRetention(parsed, registry);
  requireRetainedRange(parsed, { range, zone, clock, retention }, options.now);
  // Read in any case: a wrong tonlake.yaml ends every command.
  const fallback = fallbackWarehouse();
  const warehouse = options.warehouse ?? fields.warehouse ?? fallback ?? defaultWarehouse(network.name);
  const { rps, priority = 'backfill', pipelines, notify, verify, compact, doc = '' } = fields;
  return {
    rps,
    priority,
    pipelines,
    notify,
    verify,
    compact,
    marts: fields.marts,
    checks: fields.checks,
    doc,
    name: parsed.name,
    file: parsed.file,
    warehouse,
    network: network.name,
    selection,
    range,
    zone,
    clock,
    outputs,
    databases,
    retention,
    iceberg: await checkIceberg(parsed, { warehouse, network: network.name }),
    digest: sha256Of(JSON.stringify([fields, await readNamedFiles(fields)])),
    schedule: checkSchedule(parsed, range, zone, options.now),
  };
}

/** The contents of the files that a job names: queries, and reports given by path. */
function readNamedFiles({ reports, exports }: JobFields): Promise<readonly string[]> {
  const files = [
    ...exports.flatMap(({ file }) => file ?? []),
    ...reports.flatMap(({ report }) => (isReportPath(report) ? reportFile(report) : [])),
  ];
  // A report that cannot be read yet fails when it is rendered.
  return Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
}

/** Checks that the job's pipelines have every table and column of the selection. */
function checkSelection({ fields, yaml }: ParsedJob, registry: Registry): Selection {
  const { without, columns, without_columns: withoutColumns, pipelines } = fields;
  const selection = { without, columns, withoutColumns };
  if (without === undefined && columns === undefined && withoutColumns === undefined) return selection;
  const placeOf = (place: SelectionPlace): string => {
    if (place.kind === 'without') return yaml.placeOf(['without', place.at]);
    if (place.kind === 'without-column') return yaml.placeOf(['without_columns', place.at]);
    const { table, at } = place;
    return at === undefined ? yaml.placeOfKey(['columns'], table) : yaml.placeOf(['columns', table, at]);
  };
  const placed = (error: UsageError, place: SelectionPlace): UsageError =>
    error.with({ problem: `${error.problem} (${placeOf(place)})` });
  const exported = pipelines.length === 0 ? [] : registry.toRun(pipelines);
  selectFrom(exported, selection, { placed });
  return selection;
}

function checkZone({ yaml }: ParsedJob, path: Path, zone: string): string {
  yaml.placed(path, () => requireZone(zone));
  return zone;
}

function checkRange(parsed: ParsedJob): JobRange {
  const { fields, yaml } = parsed;
  if ((fields.range === undefined) !== (fields.pipelines.length === 0)) {
    const [there, absent] = fields.range === undefined ? ['pipelines', 'range'] : ['range', 'pipelines'];
    throw usage(
      `${absent} with ${there}`,
      `nothing (${yaml.placeOfKey([], there ?? '')})`,
      'a job that exports needs both, other jobs need neither',
    );
  }
  const range = parsed.yaml.placed(['range'], () => parseJobRange(fields.range, fields.start));
  if (fields.start !== undefined && range.kind !== 'since') {
    throw yaml.wrongValue(['start'], 'start only with the range since last run', 'remove start');
  }
  return range;
}

function checkSchedule(parsed: ParsedJob, range: JobRange, zone: string, now: number): JobSchedule | undefined {
  const { schedule } = parsed.fields;
  if (schedule === undefined) return undefined;
  const own = schedule.zone === undefined ? zone : checkZone(parsed, ['schedule', 'zone'], schedule.zone);
  const times = parsed.yaml.placed(['schedule', 'cron'], () => openCron(schedule.cron, own));
  const date = range.kind === 'days' ? outOfStep(times, { cron: own, days: zone }, now) : undefined;
  if (date !== undefined) {
    const hint = `zone: ${own} counts days in the time zone of the schedule; or choose another hour: on ${date} a day would be repeated or skipped`;
    throw parsed.yaml.wrongValue(['schedule', 'cron'], `a time of day that fits the days of ${zone}`, hint);
  }
  const expected = schedule.expected_by === undefined ? times : expectedTimes(parsed, schedule.expected_by, own);
  return { cron: schedule.cron, zone: own, catchUp: schedule.catch_up, times, expected };
}

/** The times of `06:00`, or of `06:00 Europe/Berlin`. */
function expectedTimes(parsed: ParsedJob, text: string, zone: string): CronTimes {
  const [time = '', own = zone] = text.split(' ');
  const [hour, minute] = time.split(':').map(Number);
  return openCron(`${minute} ${hour} * * *`, checkZone(parsed, ['schedule', 'expected_by'], own));
}

/**
 * Where the tables of a job are published; undefined for nowhere.
 * @param network its name
 * @throws {UsageError} with line and column
 */
async function checkIceberg(
  { fields, yaml }: ParsedJob,
  { warehouse, network }: { readonly warehouse: string; readonly network: string },
): Promise<JobIceberg | undefined> {
  const { iceberg = false } = fields;
  if (iceberg === false) return undefined;
  if ((await requireKind(warehouse, undefined)).kind === 'duckdb') {
    const hint = 'remove it, or export to a folder of Parquet files';
    throw yaml.wrongValue(['iceberg'], `false for the DuckDB warehouse ${warehouse}`, hint);
  }
  if (iceberg === true) return { catalog: undefined, location: undefined };
  const { catalog: uri, namespace, warehouse: catalogWarehouse, location } = iceberg;
  if (uri === undefined) {
    const wrong = (['namespace', 'warehouse'] as const).find((key) => iceberg[key] !== undefined);
    if (wrong !== undefined) yaml.placed(['iceberg', wrong], () => requireCatalog(iceberg[wrong]));
    return { catalog: undefined, location };
  }
  yaml.placed(['iceberg', 'catalog'], () => parseUri(uri));
  const named = namespace ?? yaml.placed(['iceberg', 'catalog'], () => namespaceOf(network));
  const catalog = { uri, namespace: named, warehouse: catalogWarehouse };
  // Without the environment, which is that of the machine that runs the job.
  yaml.placed(['iceberg', 'namespace'], () => readCatalogConfig(catalog, {}));
  return { catalog, location };
}
