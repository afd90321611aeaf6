import { dirname } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { dateAt } from '../core/time-zone.ts';
import type { Trial } from '../core/trial.ts';
import { parseTarget, targetTrial } from '../targets/target.ts';
import { placeTrials, warehousePath } from '../warehouse/index.ts';
import { fillIn, type Job } from './job.ts';
import { filesOf } from './output-files.ts';

/** A requirement of a run. */
interface Requirement {
  readonly name: string;
  /** Undefined if it is met. */
  readonly error: unknown;
}

/** Checks everything that a run writes to: warehouse, outputs, Iceberg catalog and databases. Changes nothing. */
export async function preflight(job: Job, effects: Effects): Promise<readonly Requirement[]> {
  const today = dateAt(effects.now(), job.zone);
  const values = { job: job.name, date: today, first_date: today };
  const folders = job.outputs.map(({ output }) => dirname(fillIn(output, values)));
  const trials: readonly Trial[] = [
    ...(await placeTrials(warehousePath(job.warehouse), effects)),
    ...folders.flatMap((folder) => filesOf(folder).trials(folder, effects)),
    ...(await catalogTrials(job, effects)),
    ...job.databases.map(({ to }) => targetTrial(parseTarget(fillIn(to, values)))),
  ];
  const checked = new Map<string, Requirement>();
  for (const { name, attempt } of trials) {
    if (checked.has(name)) continue;
    const error = await attempt().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    checked.set(name, { name, error });
  }
  return [...checked.values()];
}

async function catalogTrials({ iceberg }: Job, effects: Effects): Promise<readonly Trial[]> {
  if (iceberg?.catalog === undefined) return [];
  const [{ catalogTrial }, { readCatalogConfig }] = await Promise.all([
    import('../iceberg/rest/catalog-requests.ts'),
    import('../iceberg/rest/catalog-config.ts'),
  ]);
  return [catalogTrial(readCatalogConfig(iceberg.catalog), effects)];
}
