import { dirname } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { dateAt } from '../core/time-zone.ts';
import type { Trial } from '../core/trial.ts';
import { parseTarget } from '../targets/target.ts';
import { targetTrial } from '../targets/target-trial.ts';
import { placeTrials, warehousePath } from '../warehouse/index.ts';
import { fillIn, type Job } from './job.ts';
import { filesOf } from './output-files.ts';

/** What a run will need, and why it is not there. */
interface Tried {
  readonly name: string;
  /** Undefined if it is there. */
  readonly error: unknown;
}

/** Tries all that a run will write to: the warehouse, with rights and disk, outputs, an Iceberg catalog, and databases. Changes nothing. */
export async function tryNeeds(job: Job, effects: Effects): Promise<readonly Tried[]> {
  const today = dateAt(effects.now(), job.zone);
  const values = { job: job.name, date: today, first_date: today };
  const folders = job.outputs.map(({ output }) => dirname(fillIn(output, values)));
  const trials: readonly Trial[] = [
    ...(await placeTrials(warehousePath(job.warehouse), effects)),
    ...folders.flatMap((folder) => filesOf(folder).trials(folder, effects)),
    ...(await catalogTrials(job, effects)),
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

async function catalogTrials({ iceberg }: Job, effects: Effects): Promise<readonly Trial[]> {
  if (iceberg?.catalog === undefined) return [];
  const [{ catalogTrial }, { catalogPlace }] = await Promise.all([
    import('../iceberg/rest/catalog-requests.ts'),
    import('../iceberg/rest/catalog-place.ts'),
  ]);
  return [catalogTrial(catalogPlace(iceberg.catalog), effects)];
}
