import { dirname } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { formatError, JobError, TonlakeError } from '../core/errors.ts';
import { shellWord } from '../core/shell-word.ts';
import { suggest } from '../core/suggest.ts';
import { dateAt } from '../core/time-zone.ts';
import type { Trial } from '../core/trial.ts';
import { folderTrial } from '../files/writable-folder.ts';
import { parseTarget } from '../targets/target.ts';
import { targetTrial } from '../targets/target-trial.ts';
import { placeTrials, warehousePath } from '../warehouse/index.ts';
import { fillIn, type Job } from './job.ts';
import type { Tried } from './job-actions.ts';
import type { StepContext } from './job-step.ts';

/** Tries all that a run will write to: the warehouse, with rights and disk, outputs and databases. Changes nothing. */
export async function tryNeeds(job: Job, effects: Effects): Promise<readonly Tried[]> {
  const today = dateAt(effects.now(), job.zone);
  const values = { job: job.name, date: today, first_date: today };
  const folders = job.outputs.map(({ output }) => dirname(fillIn(output, values)));
  const trials: readonly Trial[] = [
    ...(await placeTrials(warehousePath(job.warehouse), effects)),
    ...folders.map((folder) => folderTrial(folder, 'output')),
    ...job.databases.map(({ to }) => targetTrial(parseTarget(fillIn(to, values)))),
  ];
  const tried = new Map<string, Tried>();
  for (const { name, attempt } of trials) {
    if (tried.has(name)) continue;
    const error = await attempt().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    tried.set(name, { name, error });
  }
  return [...tried.values()];
}

/** Reports each thing that a run will need and does not have as a failed step. @throws {JobError} `not-ready` if there is any */
export async function requireReady({ job, actions, effects, onStep }: StepContext): Promise<void> {
  const tried = await actions.tryNeeds(job, effects);
  const missing = tried.filter(({ error }) => error !== undefined);
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
