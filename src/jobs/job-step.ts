import type { Effects } from '../core/effects.ts';
import { formatError } from '../core/errors.ts';
import type { RunEvent } from '../export/run.ts';
import type { Job } from './job.ts';
import type { JobActions } from './job-actions.ts';
import type { FixedRange, StepResult } from './run-record.ts';

/** Context of the steps of a run. */
export interface StepContext {
  readonly job: Job;
  readonly actions: JobActions;
  readonly effects: Effects;
  readonly stop: AbortSignal;
  /** Called after each step. */
  readonly onStep: (step: StepResult) => Promise<void>;
  readonly onRunEvent: ((event: RunEvent) => void) | undefined;
}

/** The time and range of a run, which all attempts share. */
export interface Fixed {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly range: FixedRange;
}

type StepName = Pick<StepResult, 'kind' | 'name' | 'to'>;

interface StepOutcome<T> {
  readonly value: T;
  readonly rows?: Readonly<Record<string, number>>;
  readonly requests?: number;
  readonly entry?: number;
  readonly ledger?: string;
  readonly message?: string | undefined;
}

/** Runs a step and reports its result. */
export async function runStep<T>(
  context: StepContext,
  step: StepName,
  work: () => Promise<StepOutcome<T>>,
): Promise<T> {
  const { effects, onStep } = context;
  const startedAt = effects.monotonic();
  const { value, ...figures } = await reportFailure(context, step, work);
  await onStep({ ...step, status: 'done', seconds: secondsSince(effects, startedAt), ...figures });
  return value;
}

/** Runs a step and reports it only if it fails. */
export async function reportFailure<T>(
  { effects, onStep }: StepContext,
  step: StepName,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = effects.monotonic();
  try {
    return await work();
  } catch (error) {
    await onStep({ ...step, status: 'failed', seconds: secondsSince(effects, startedAt), message: formatError(error) });
    throw error;
  }
}

export function secondsSince(effects: Effects, startedAt: number): number {
  return Math.round(effects.monotonic() - startedAt) / 1000;
}
