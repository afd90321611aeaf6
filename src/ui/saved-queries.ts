import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listFolder } from '../files/disk.ts';
import type { SavedQuery } from './ui-types.ts';

/** The saved queries of a folder, `NAME.sql`, by name; none if there is no folder. */
export async function readSavedQueries(folder: string): Promise<readonly SavedQuery[]> {
  const names = (await listFolder(folder)).filter((name) => /^[\w-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({
      name: name.slice(0, -'.sql'.length),
      sql: await readFile(join(folder, name), 'utf8'),
    })),
  );
}
