import { join } from 'node:path';
import { listFolder, statIfAny } from '../files/disk.ts';
import { JobHistory, jobsFolder } from '../jobs/run-history.ts';
import type { JobRecord } from '../jobs/run-record.ts';
import type { RunItem } from './ui-types.ts';

/** The newest runs of all jobs on a warehouse. Records that cannot be read are left out. */
export async function readRuns(warehouse: string, limit: number): Promise<readonly RunItem[]> {
  const folder = await jobsFolder(warehouse);
  const names = await listFolder(folder);
  const found = await Promise.all(
    names.map(async (name): Promise<readonly JobRecord[]> => {
      if ((await statIfAny(join(folder, name)))?.isDirectory() !== true) return [];
      const history = await JobHistory.open(warehouse, name);
      return history.read().catch(() => []);
    }),
  );
  const runs = found.flat().map(runItem);
  return runs.sort((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, limit);
}

function timeOf({ startedAt, due }: RunItem): string {
  return startedAt ?? due;
}

function runItem({ job, id, state, due, attempts, steps, error }: JobRecord): RunItem {
  const [first, last] = [attempts[0], attempts.at(-1)];
  const seconds =
    first === undefined || last?.endedAt === undefined
      ? null
      : (Date.parse(last.endedAt) - Date.parse(last.startedAt)) / 1000;
  return {
    ...{ job, id, state, due, startedAt: last?.startedAt ?? null, seconds, error: error?.message ?? null },
    steps: steps.map(({ kind, name, status, seconds: took, message }) => ({
      ...{ kind, name, status, seconds: took, message: message ?? null },
    })),
  };
}
