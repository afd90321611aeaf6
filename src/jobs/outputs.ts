import { writeFile } from 'node:fs/promises';
import { JobError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { addDays, dateAt } from '../core/time-zone.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { usedParameters } from '../sql/parameters.ts';
import type { ExportOptions } from '../targets/export-rows.ts';
import type { Days, ExportSource } from '../targets/exported-rows.ts';
import type { Target } from '../targets/target.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { fillIn, type Job, type OutputTarget, type PlacedQuery, type Placeholders } from './job.ts';
import { type Fixed, reportFailure, runStep, type StepContext } from './job-step.ts';
import { moveOutputs, type Publication } from './publish.ts';
import { withPlace } from './query-fault.ts';
import type { StagedOutput } from './run-record.ts';

/** Stages every output next to its final path. */
export async function stageOutputs(context: StepContext, fixed: Fixed, publication: Publication): Promise<void> {
  const { job } = context;
  if (job.outputs.length === 0) return;
  const values: Placeholders = { job: job.name, ...(await fetchDays(context, fixed)) };
  for (const target of job.outputs) {
    if (context.stop.aborted) return;
    const output = fillIn(target.output, values);
    await publication.stage(output, (path) => writeOutput(context, fixed, target, values, path));
  }
}

/**
 * The first and last day of the range: those it names, otherwise those of its first and last block; without blocks, the day of the run.
 * Every attempt finds the same days. They are fetched after the export, because a range may end with blocks that did not exist when the
 * run started.
 */
async function fetchDays(context: StepContext, { now, range }: Fixed): Promise<Omit<Placeholders, 'job'>> {
  const { job, actions, effects } = context;
  const { network, zone, rps } = job;
  const { from, to, firstDay, lastDay } = range;
  const today = dateAt(now, zone);
  if (from === undefined || to === undefined) return { first_date: today, date: today };
  if (firstDay !== undefined && lastDay !== undefined) return { first_date: firstDay, date: lastDay };
  return reportFailure(context, { kind: 'range', name: job.name }, () =>
    actions.withChain({ network, zone, rps, effects }, async (chain) => {
      const dayOf = async (seqno: number): Promise<string> => dateAt(await chain.blockTime(seqno), zone);
      return { first_date: firstDay ?? (await dayOf(from)), date: lastDay ?? (await dayOf(to)) };
    }),
  );
}

async function writeOutput(
  context: StepContext,
  fixed: Fixed,
  target: OutputTarget,
  values: Placeholders,
  path: string,
): Promise<void> {
  const { job, actions } = context;
  const { network, warehouse, zone: timezone } = job;
  if (target.kind === 'report') {
    const params = Object.fromEntries(Object.entries(target.params).map(([key, text]) => [key, fillIn(text, values)]));
    return runStep(context, { kind: 'report', name: target.report }, async () => {
      const request = { params, format: target.format, network, timezone, now: new Date(fixed.now) };
      const { content, gaps, isEmpty } = await actions.renderReport(warehouse, target.report, request);
      if (isEmpty) throw emptyReport(job, target.report);
      await writeFile(path, content);
      return { value: undefined, message: describeGaps(gaps) };
    });
  }
  const { source, format, as } = target;
  const isTable = 'table' in source;
  await exportTo(
    context,
    { kind: 'file', format, path },
    {
      source: isTable ? { sql: inKeyOrder(await warehouseRegistry(warehouse), source.table) } : source,
      name: isTable ? source.table : fillIn(target.output, values),
      as,
      parameters: parametersOf(fixed, values),
    },
  );
}

/** Writes the rows of the run's days to databases. Repeating it is safe, so a later failure of the run needs no rollback. */
export async function writeDatabases(context: StepContext, fixed: Fixed): Promise<void> {
  const { job } = context;
  if (job.databases.length === 0 || context.stop.aborted) return;
  const values: Placeholders = { job: job.name, ...(await fetchDays(context, fixed)) };
  const daysIfDated = utcDays(values, job.zone);
  for (const { source, to, as } of job.databases) {
    if (context.stop.aborted) return;
    const rows = { source, name: as, as, daysIfDated, parameters: parametersOf(fixed, values) };
    await exportTo(context, fillIn(to, values), rows);
  }
}

function parametersOf({ range }: Fixed, values: Placeholders): Readonly<Record<string, unknown>> {
  return { from: range.from ?? null, to: range.to ?? null, ...values };
}

/** Rows of a step. */
interface StepRows extends Pick<ExportOptions, 'as' | 'daysIfDated'> {
  readonly source: ExportSource | PlacedQuery;
  /** Of the step. */
  readonly name: string;
  /** Values that a select may use. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

async function exportTo(context: StepContext, to: string | Target, rows: StepRows): Promise<void> {
  const { job, actions } = context;
  const { source, name, parameters, as, daysIfDated } = rows;
  const step = { kind: 'rows', name, ...(typeof to === 'string' ? { to } : {}) } as const;
  await runStep(context, step, async () => {
    const gaps: string[] = [];
    const report = await actions
      .exportRows(job.warehouse, 'table' in source ? source : { sql: source.sql }, to, {
        network: job.network,
        as,
        daysIfDated,
        onGap: (gap: string) => void gaps.push(gap),
        parameters: 'sql' in source ? usedParameters(source.sql, parameters) : undefined,
      })
      .catch((error: unknown) => {
        throw 'lines' in source ? withPlace(error, source) : error;
      });
    const notes = report.warnings.filter((warning) => !gaps.includes(warning));
    const message = [describeGaps(gaps), ...notes].filter((part) => part !== undefined).join('; ');
    return { value: undefined, rows: { [name]: report.rows }, message: message === '' ? undefined : message };
  });
}

/** The columns without lineage columns, in key order, so that the same rows give the same file. */
function inKeyOrder(registry: Registry, name: string): string {
  const table = registry.tables.find((each) => each.name === name);
  const order = table === undefined ? 'ALL' : table.key.map(quoteName).join(', ');
  const columns = table?.columns.map((column) => column.name).filter((column) => !column.startsWith('_'));
  return `SELECT ${columns?.map(quoteName).join(', ') ?? '*'} FROM ${quoteName(name)} ORDER BY ${order}`;
}

/** The UTC days that cover days of a time zone: outside of UTC, one more at both ends. */
function utcDays({ first_date: from, date: to }: Placeholders, zone: string): Days {
  if (zone === 'UTC') return { from, to };
  return { from: addDays(from, -1), to: addDays(to, 1) };
}

function describeGaps(gaps: readonly string[]): string | undefined {
  return gaps.length === 0 ? undefined : `warning: ${gaps.join('; ')}`;
}

function emptyReport(job: Job, report: string): JobError {
  return new JobError(`job ${job.name}: expected data for the report ${report}, got none; nothing was published`, {
    hint: `${suggest('status', '', { warehouse: job.warehouse })} shows what the warehouse has`,
  });
}

/** Moves all outputs to their final paths. @param resumed true if an earlier attempt may have moved some */
export async function publish(context: StepContext, outputs: readonly StagedOutput[], resumed: boolean): Promise<void> {
  if (outputs.length === 0) return;
  await runStep(context, { kind: 'publish', name: String(outputs.length) }, async () => {
    const changed = await moveOutputs(outputs, resumed);
    const message =
      changed.length === 0 ? undefined : `moved or changed since an earlier attempt: ${changed.join(', ')}`;
    return { value: undefined, message };
  });
}
