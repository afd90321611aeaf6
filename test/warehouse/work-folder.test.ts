import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readMark } from '../../src/files/process-liveness.ts';
import { openWorkFolder } from '../../src/warehouse/bucket-store/work-folder.ts';

/** A work folder, with a file, of a process. */
async function folderOf(pid: number | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tonlake-bucket-'));
  writeFileSync(
    join(folder, 'owner.json'),
    JSON.stringify({ ...(await readMark(pid)), since: new Date().toISOString() }),
  );
  writeFileSync(join(folder, 'rows.parquet'), 'staged');
  return folder;
}

test('the work folder of a process that is gone is removed with its files, others stay', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const [gone, running] = [await folderOf(pid), await folderOf(process.pid)];
  const own = await openWorkFolder();
  expect(basename(own)).toMatch(/^tonlake-bucket-/);
  expect([gone, running, own].map((path) => existsSync(path))).toEqual([false, true, true]);
  for (const path of [running, own]) await rm(path, { recursive: true });
});
