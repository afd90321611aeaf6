import { formatError, TonlakeError } from '../core/errors.ts';
import { openJob } from '../jobs/check-job.ts';
import type { Job } from '../jobs/job.ts';
import { jobFiles, jobsPlace } from '../jobs/list-jobs.ts';
import { warehousePath } from '../warehouse/index.ts';
import type { JobItem } from './ui-types.ts';

/** A job of a warehouse, or an invalid file. */
export type FoundJob = { readonly file: string; readonly job: Job } | { readonly file: string; readonly error: string };

/** The job files of a project. */
export class JobFiles {
  readonly #path: string | undefined;
  readonly #warehouse: string;

  /** @param path file or folder; undefined for the usual folders, if there is one */
  constructor(path: string | undefined, warehouse: string) {
    this.#path = path;
    this.#warehouse = warehousePath(warehouse);
  }

  /** The jobs on the warehouse, and files with errors, whose warehouse is unknown. */
  async read(now: number): Promise<readonly FoundJob[]> {
    const found = await Promise.all(
      (await this.#files()).map(async (file): Promise<FoundJob> => {
        try {
          return { file, job: await openJob(file, { now }) };
        } catch (error) {
          return { file, error: formatError(error) };
        }
      }),
    );
    return found.filter((each) => !('job' in each) || warehousePath(each.job.warehouse) === this.#warehouse);
  }

  async #files(): Promise<readonly string[]> {
    try {
      return await jobFiles(this.#path ?? (await jobsPlace()));
    } catch (error) {
      // Without a project there are no jobs.
      if (this.#path === undefined && error instanceof TonlakeError) return [];
      throw error;
    }
  }
}

/** A job file as the page lists it. */
export function jobItem(found: FoundJob, now: number): JobItem {
  const { file } = found;
  const none = { doc: '', schedule: null, next: null, outputs: [], error: null };
  if ('error' in found) return { ...none, name: file.replace(/^.*[/\\]|\.ya?ml$/g, ''), file, error: found.error };
  const { name, doc, schedule, outputs, databases } = found.job;
  const next = schedule?.times.after(now);
  return {
    name,
    file,
    doc,
    error: null,
    schedule: schedule === undefined ? null : `${schedule.cron} (${schedule.zone})`,
    next: next === undefined ? null : new Date(next).toISOString(),
    outputs: [...outputs.map(({ output }) => output), ...databases.map(({ to, as }) => `${as} in ${to}`)],
  };
}
