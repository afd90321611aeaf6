import { writeFile } from 'node:fs/promises';
import { JobError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { addDays, dateAt } from '../core/time-zone.ts';
import { fillIn, type Job, type OutputTarget, type Placeholders } from './job.ts';
import type { DatabaseRequest } from './job-actions.ts';
import { type Fixed, reportFailure, type StepContext, timed } from './job-step.ts';
import { type Publication, putInPlace } from './publish.ts';
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
  { range, now }: Fixed,
  target: OutputTarget,
  values: Placeholders,
  path: string,
): Promise<void> {
  const { job, actions } = context;
  const { network, warehouse, zone: timezone } = job;
  if (target.kind === 'report') {
    const params = Object.fromEntries(Object.entries(target.params).map(([key, text]) => [key, fillIn(text, values)]));
    return timed(context, { kind: 'report', name: target.report }, async () => {
      const request = { params, format: target.format, network, timezone, now: new Date(now) };
      const { content, gaps, isEmpty } = await actions.renderReport(warehouse, target.report, request);
      if (isEmpty) throw emptyReport(job, target.report);
      await writeFile(path, content);
      return { value: undefined, message: describeGaps(gaps) };
    });
  }
  const source = target.kind === 'table' ? { table: target.table } : { sql: target.sql, lines: target.lines };
  const parameters = { from: range.from ?? null, to: range.to ?? null, ...values };
  const name = target.kind === 'table' ? target.table : fillIn(target.output, values);
  return timed(context, { kind: 'rows', name }, async () => {
    const request = { source, format: target.format, network, parameters };
    const { rows, gaps, notes } = await actions.writeRows(warehouse, path, request);
    return { value: undefined, rows: { [name]: rows }, message: describeRows(gaps, notes) };
  });
}

/** Writes the rows of the run's days to databases. Each can be repeated, so a later failure of the run needs no undoing. */
export async function writeDatabases(context: StepContext, fixed: Fixed): Promise<void> {
  const { job, actions } = context;
  if (job.databases.length === 0 || context.stop.aborted) return;
  const values: Placeholders = { job: job.name, ...(await fetchDays(context, fixed)) };
  const parameters = { from: fixed.range.from ?? null, to: fixed.range.to ?? null, ...values };
  const days = utcDays(values, job.zone);
  for (const { source, to, as } of job.databases) {
    if (context.stop.aborted) return;
    await timed(context, { kind: 'rows', name: as }, async () => {
      const request = { source, as, days, network: job.network, parameters };
      const { rows, gaps, notes } = await actions.writeDatabase(job.warehouse, fillIn(to, values), request);
      return { value: undefined, rows: { [as]: rows }, message: describeRows(gaps, notes) };
    });
  }
}

/** The UTC days of days in a time zone: outside of UTC, one more at either end. */
function utcDays({ first_date: from, date: to }: Placeholders, zone: string): DatabaseRequest['days'] {
  if (zone === 'UTC') return { from, to };
  return { from: addDays(from, -1), to: addDays(to, 1) };
}

function describeRows(gaps: readonly string[], notes: readonly string[]): string | undefined {
  const parts = [describeGaps(gaps), ...notes].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('; ');
}

function describeGaps(gaps: readonly string[]): string | undefined {
  return gaps.length === 0 ? undefined : `gaps: ${gaps.join('; ')}`;
}

function emptyReport(job: Job, report: string): JobError {
  return new JobError(`job ${job.name}: expected data for the report ${report}, got none; nothing was published`, {
    code: 'empty-report',
    hint: `${suggest('status', '', { warehouse: job.warehouse })} shows what the warehouse has`,
  });
}

/** Moves all outputs to their final paths. @param resumed true if an earlier attempt may have moved some */
export async function publish(context: StepContext, outputs: readonly StagedOutput[], resumed: boolean): Promise<void> {
  if (outputs.length === 0) return;
  await timed(context, { kind: 'publish', name: String(outputs.length) }, async () => {
    const changed = await putInPlace(outputs, resumed);
    const message =
      changed.length === 0 ? undefined : `moved or changed since an earlier attempt: ${changed.join(', ')}`;
    return { value: undefined, message };
  });
}
