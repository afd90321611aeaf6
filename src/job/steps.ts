import { writeFile } from 'node:fs/promises';
import type { Effects } from '../effects.ts';
import { formatError, JobError } from '../errors.ts';
import type { RunEvent, RunReport } from '../run.ts';
import { dateAt } from '../zone.ts';
import type { JobActions } from './actions.ts';
import { fillIn, type Job, type OutputTarget, type Placeholders } from './job.ts';
import { type Publication, putInPlace } from './publish.ts';
import { type FixedRange, fixRange } from './range.ts';
import type { StagedOutput, StepResult } from './record.ts';

/** What the steps of one run share. */
export interface StepContext {
  readonly job: Job;
  readonly actions: JobActions;
  readonly effects: Effects;
  readonly stop: AbortSignal;
  /** Told of each step when it is over. */
  readonly onStep: (step: StepResult) => Promise<void>;
  readonly onRunEvent: ((event: RunEvent) => void) | undefined;
}

/** What is fixed when a run begins, for all its attempts. */
export interface Fixed {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly range: FixedRange;
}

/** Finds the moment and the blocks that a run is for. @throws as the network does */
export async function fixRun(context: StepContext, due: number, lastTo: number | undefined): Promise<Fixed> {
  const { job, actions, effects } = context;
  const { network, zone, rps, range } = job;
  return timed(context, { kind: 'range', name: job.name }, async () => {
    if (range.kind === 'none' && job.clock === 'wall') {
      return { value: { now: due, range: await fixRange(range, { now: due, zone, lastTo }, noChain) } };
    }
    const value = await actions.withChain({ network, zone, rps, effects }, async (chain) => {
      const now = job.clock === 'chain' ? await chain.headTime() : due;
      return { now, range: await fixRange(range, { now, zone, lastTo }, chain) };
    });
    return { value, message: describeRange(value.range) };
  });
}

/** A range of nothing asks for nothing. */
const noChain = {
  head: () => Promise.resolve(0),
  firstOfDay: () => Promise.resolve(0),
  lastOfDay: () => Promise.resolve(0),
};

/** Brings the range into the warehouse. @throws {JobError} `incomplete` */
export async function exportRange(context: StepContext, fixed: Fixed): Promise<void> {
  const { job, actions, effects, stop, onRunEvent } = context;
  const { blocks } = fixed.range;
  const step = { kind: 'export', name: job.pipelines.join(',') } as const;
  if (blocks === undefined) {
    const message = job.pipelines.length === 0 ? 'the job exports nothing' : 'there are no new blocks';
    return context.onStep({ ...step, status: 'skipped', seconds: 0, message });
  }
  const { pipelines, network, warehouse, rps, lane } = job;
  await timed(context, step, async () => {
    const options = { pipelines, range: blocks, network, warehouse, rps, lane };
    const report = await actions.run({ ...options, effects, stop, onEvent: onRunEvent });
    if (!report.complete && !stop.aborted) throw incomplete(job, report);
    return {
      value: undefined,
      rows: report.rows,
      requests: report.requests,
      message: report.complete ? undefined : 'interrupted',
    };
  });
}

function incomplete(job: Job, { from, to, quarantined }: RunReport): JobError {
  const why = quarantined > 0 ? `${quarantined} records in quarantine` : 'blocks are missing';
  return new JobError(`job ${job.name}: expected ${from}:${to} whole, got ${why}; nothing was published`, {
    code: 'incomplete',
    hint: `tonlake status --warehouse ${job.warehouse}, then run the job again`,
  });
}

export async function buildMarts(context: StepContext): Promise<void> {
  const { job, actions, onStep } = context;
  if (job.marts?.length === 0) return;
  const built = await tellingFailure(context, { kind: 'mart', name: job.marts?.join(',') ?? 'all' }, () =>
    actions.buildMarts(job.warehouse, job.marts, job.network),
  );
  for (const { name, status, rows, seconds, marked, reason } of built) {
    const isMarked = marked.length === 0 ? [] : [`not all sealed: ${marked.join(', ')}`];
    const message = [status, ...(reason === undefined ? [] : [reason]), ...isMarked].join('; ');
    await onStep({ kind: 'mart', name, status: 'done', seconds, rows: { [name]: rows }, message });
  }
}

/** @throws {JobError} `checks-failed` */
export async function runChecks(context: StepContext): Promise<void> {
  const { job, actions, effects, onStep } = context;
  if (job.checks?.length === 0) return;
  const startedAt = effects.monotonic();
  const outcomes = await tellingFailure(context, { kind: 'check', name: job.checks?.join(',') ?? 'all' }, () =>
    actions.runChecks(job.warehouse, job.checks, job.network),
  );
  const seconds = secondsSince(effects, startedAt) / Math.max(1, outcomes.length);
  for (const { name, status, offenders, reason } of outcomes) {
    const message = reason ?? (status === 'failed' ? `${offenders} offending rows` : undefined);
    await onStep({
      kind: 'check',
      name,
      status: status === 'passed' ? 'done' : status,
      seconds: round(seconds),
      ...told(message),
    });
  }
  const failed = outcomes.filter(({ status }) => status === 'failed').map(({ name }) => name);
  if (failed.length === 0) return;
  const which = `${failed.length} of ${outcomes.length} checks failed: ${failed.join(', ')}`;
  throw new JobError(`job ${job.name}: ${which}; nothing was published`, {
    code: 'checks-failed',
    hint: `tonlake check ${failed.join(' ')} --warehouse ${job.warehouse} shows the rows`,
  });
}

/** Writes every output beside its place. */
export async function stageOutputs(context: StepContext, fixed: Fixed, publication: Publication): Promise<void> {
  const { job } = context;
  const { firstDay, lastDay = dateAt(fixed.now, job.zone) } = fixed.range;
  const values: Placeholders = { job: job.name, date: lastDay, first_date: firstDay ?? lastDay };
  for (const target of job.outputs) {
    if (context.stop.aborted) return;
    const output = fillIn(target.output, values);
    await publication.stage(output, (path) => writeOutput(context, fixed, target, values, path));
  }
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
  const source = target.kind === 'table' ? { table: target.table } : { sql: target.sql };
  const parameters = { from: range.from ?? null, to: range.to ?? null, ...values };
  const name = target.kind === 'table' ? target.table : fillIn(target.output, values);
  return timed(context, { kind: 'rows', name }, async () => {
    const request = { source, format: target.format, network, parameters };
    const { rows, gaps } = await actions.writeRows(warehouse, path, request);
    return { value: undefined, rows: { [name]: rows }, message: describeGaps(gaps) };
  });
}

function describeGaps(gaps: readonly string[]): string | undefined {
  return gaps.length === 0 ? undefined : `gaps: ${gaps.join('; ')}`;
}

function emptyReport(job: Job, report: string): JobError {
  return new JobError(`job ${job.name}: expected data for the report ${report}, got none; nothing was published`, {
    code: 'empty-report',
    hint: `tonlake status --warehouse ${job.warehouse} shows what is there`,
  });
}

/** Puts all outputs in place. */
export async function publish(context: StepContext, outputs: readonly StagedOutput[]): Promise<void> {
  if (outputs.length === 0) return;
  await timed(context, { kind: 'publish', name: String(outputs.length) }, async () => {
    await putInPlace(outputs);
    return { value: undefined };
  });
}

type StepName = Pick<StepResult, 'kind' | 'name'>;

interface Told<T> {
  readonly value: T;
  readonly rows?: Readonly<Record<string, number>>;
  readonly requests?: number;
  readonly message?: string | undefined;
}

/** Does a step and tells how it went. */
async function timed<T>(context: StepContext, step: StepName, work: () => Promise<Told<T>>): Promise<T> {
  const { effects, onStep } = context;
  const startedAt = effects.monotonic();
  const { value, message, ...figures } = await tellingFailure(context, step, work);
  await onStep({ ...step, status: 'done', seconds: secondsSince(effects, startedAt), ...figures, ...told(message) });
  return value;
}

async function tellingFailure<T>({ effects, onStep }: StepContext, step: StepName, work: () => Promise<T>): Promise<T> {
  const startedAt = effects.monotonic();
  try {
    return await work();
  } catch (error) {
    await onStep({ ...step, status: 'failed', seconds: secondsSince(effects, startedAt), message: formatError(error) });
    throw error;
  }
}

function told(message: string | undefined): { readonly message?: string } {
  return message === undefined ? {} : { message };
}

function secondsSince(effects: Effects, startedAt: number): number {
  return round((effects.monotonic() - startedAt) / 1000);
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function describeRange({ blocks, firstDay, lastDay }: FixedRange): string {
  const days = firstDay === undefined ? '' : firstDay === lastDay ? `${firstDay}: ` : `${firstDay} to ${lastDay}: `;
  return `${days}${blocks ?? 'no new blocks'}`;
}
