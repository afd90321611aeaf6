import { formatError, JobError, TonlakeError } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { suggest } from '../core/suggest.ts';
import type { RunReport } from '../export/run.ts';
import type { Job } from './job.ts';
import { daysBefore, daysText, resolveJobRange } from './job-range.ts';
import { type Fixed, reportFailure, runStep, type StepContext, secondsSince } from './job-step.ts';
import { lastBlock } from './run-history.ts';
import type { FixedRange, JobRecord } from './run-record.ts';

/** Reports each unmet requirement of a run as a failed step. @throws {JobError} `not-ready` if there is one */
export async function requireReady({ job, actions, effects, onStep }: StepContext): Promise<void> {
  const requirements = await actions.preflight(job, effects);
  const missing = requirements.filter(({ error }) => error !== undefined);
  if (missing.length === 0) return;
  for (const { name, error } of missing) {
    await onStep({ kind: 'preflight', name, status: 'failed', seconds: 0, message: formatError(error) });
  }
  const names = missing.map(({ name }) => `cannot ${name}`).join('; ');
  throw new JobError(`job ${job.name}: ${names}; nothing was exported`, {
    code: 'not-ready',
    retryable: missing.every(({ error }) => error instanceof TonlakeError && error.retryable),
    hint: `${suggest('job run', `${shellWord(job.file)} --dry-run`)} tries it again`,
    cause: missing[0]?.error,
  });
}

/** Determines the moment and the blocks of a run. @param records of earlier runs @throws network errors */
export async function fixRun(context: StepContext, due: number, records: readonly JobRecord[]): Promise<Fixed> {
  const { job, actions, effects } = context;
  const { network, zone, rps, range } = job;
  return runStep(context, { kind: 'range', name: job.name }, async () => {
    const known = job.clock === 'wall' ? knownRange(records, job, due) : undefined;
    if (known !== undefined) {
      const message = range.kind === 'none' ? undefined : `${describeRange(known)}, as exported before`;
      return { value: { now: due, range: known }, message };
    }
    const value = await actions.withChain({ network, zone, rps, effects }, async (chain) => {
      const now = job.clock === 'chain' ? await chain.headTime() : due;
      return {
        now,
        range: await resolveJobRange(range, { now, zone, lastTo: lastBlock(records, job.pipelines) }, chain),
      };
    });
    return { value, message: describeRange(value.range) };
  });
}

/** The range of days that an earlier run has exported, or an empty one: known without the source, which may be down. */
function knownRange(records: readonly JobRecord[], job: Job, due: number): FixedRange | undefined {
  if (job.range.kind === 'none') return {};
  const days = daysBefore(job.range, due, job.zone);
  const isSame = ({ network, zone, range, steps }: JobRecord): boolean =>
    network === job.network &&
    zone === job.zone &&
    range?.firstDay === days?.first &&
    range?.lastDay === days?.last &&
    steps.some(({ kind, status }) => kind === 'export' && status === 'done');
  return days && records.findLast(isSame)?.range;
}

/** Exports the range into the warehouse. @throws {JobError} `incomplete` */
export async function exportRange(context: StepContext, fixed: Fixed): Promise<void> {
  const { job, actions, effects, stop, onRunEvent } = context;
  const { blocks } = fixed.range;
  if (blocks === undefined) return skipExport(context, 'the job exports nothing');
  const { pipelines, selection, network, warehouse, rps, priority } = job;
  await runStep(context, { kind: 'export', name: pipelines.join(',') }, async () => {
    const options = { pipelines, ...selection, range: blocks, network, warehouse, rps, priority };
    const report = await actions.run({ ...options, effects, stop, onEvent: onRunEvent });
    if (!report.complete && !stop.aborted) throw incomplete(job, report);
    return {
      value: undefined,
      rows: report.rows,
      requests: report.requests,
      message: report.complete ? describeUnproven(report) : 'interrupted',
    };
  });
}

/** Names exported pipelines without proof. */
export function describeUnproven({ unproven = {} }: Partial<Pick<RunReport, 'unproven'>>): string | undefined {
  const names = Object.keys(unproven);
  return names.length === 0 ? undefined : `unproven: ${names.join(', ')}`;
}

/** Reports why nothing is exported. */
export async function skipExport({ job, onStep }: StepContext, message: string): Promise<void> {
  await onStep({ kind: 'export', name: job.pipelines.join(','), status: 'skipped', seconds: 0, message });
}

function incomplete(job: Job, { from, to, quarantined }: RunReport): JobError {
  const why = quarantined > 0 ? `${quarantined} records in quarantine` : 'blocks are missing';
  return new JobError(`job ${job.name}: expected ${from}:${to} complete, got ${why}; nothing was published`, {
    code: 'incomplete',
    hint: `${suggest('status', '', { warehouse: job.warehouse })}, then run the job again`,
  });
}

export async function buildMarts(context: StepContext): Promise<void> {
  const { job, actions, onStep } = context;
  if (job.marts?.length === 0) return;
  const built = await reportFailure(context, { kind: 'mart', name: job.marts?.join(',') ?? 'all' }, () =>
    actions.buildMarts(job.warehouse, { names: job.marts, network: job.network }),
  );
  const { notesOf } = await import('../marts/build-marts.ts');
  for (const build of built) {
    const { name, status, rows, seconds } = build;
    const message = [status, ...notesOf(build)].join('; ');
    await onStep({ kind: 'mart', name, status: 'done', seconds, rows: { [name]: rows }, message });
  }
}

/** @throws {JobError} `checks-failed` */
export async function runChecks(context: StepContext): Promise<void> {
  const { job, actions, effects, onStep } = context;
  if (job.checks?.length === 0) return;
  const startedAt = effects.monotonic();
  const outcomes = await reportFailure(context, { kind: 'check', name: job.checks?.join(',') ?? 'all' }, () =>
    actions.runChecks(job.warehouse, { names: job.checks, network: job.network }),
  );
  // Checks are not timed individually.
  const seconds = Math.round((1000 * secondsSince(effects, startedAt)) / Math.max(1, outcomes.length)) / 1000;
  for (const { name, status, offenders, reason } of outcomes) {
    const message = reason ?? (status === 'failed' ? `${offenders} offending rows` : undefined);
    await onStep({
      kind: 'check',
      name,
      status: status === 'passed' ? 'done' : status,
      seconds,
      message,
    });
  }
  // A check named by the job must not be skipped; with `all`, checks of missing tables may be.
  const isWanted = (name: string): boolean => job.checks?.includes(name) === true;
  const failed = outcomes.filter(({ name, status }) => status === 'failed' || (status === 'skipped' && isWanted(name)));
  if (failed.length === 0) return;
  const names = failed.map(({ name, status }) => (status === 'skipped' ? `${name} (skipped)` : name)).join(', ');
  const which = `${failed.length} of ${outcomes.length} checks failed: ${names}`;
  throw new JobError(`job ${job.name}: ${which}; nothing was published`, {
    code: 'checks-failed',
    hint: `${suggest('test', failed.map(({ name }) => name).join(' '), { warehouse: job.warehouse })} shows the rows`,
  });
}

function describeRange(range: FixedRange): string {
  const days = daysText(range, ' to ');
  return `${days === undefined ? '' : `${days}: `}${range.blocks ?? 'no new blocks'}`;
}
