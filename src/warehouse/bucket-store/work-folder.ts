import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFolder } from '../../files/disk.ts';
import { markSchema, readMark, readProcessState } from '../../files/process-liveness.ts';

const NAME = 'tonlake-bucket-';
const OWNER = 'owner.json';

/** Creates a folder for staged files of an object store, in the system's temporary folder (`TMPDIR`). */
export async function openWorkFolder(): Promise<string> {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), NAME));
  await writeFile(join(folder, OWNER), JSON.stringify({ ...(await readMark()), since: new Date().toISOString() }));
  await mkdir(join(folder, 'stage'));
  return folder;
}

/** Removes the folders of processes that are gone. */
async function removeAbandoned(): Promise<void> {
  for (const name of await listFolder(tmpdir())) {
    if (!name.startsWith(NAME)) continue;
    const folder = join(tmpdir(), name);
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  try {
    const owner = JSON.parse(await readFile(join(folder, OWNER), 'utf8'));
    const fate = await readProcessState(markSchema.parse(owner), { path: folder, since: String(owner.since) });
    return fate === 'gone';
  } catch {
    // It belongs to another user, or its owner is not written yet.
    return false;
  }
}
