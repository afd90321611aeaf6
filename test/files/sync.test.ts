import { existsSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { writeAtomically } from '../../src/files/atomic-write.ts';
import { syncPath } from '../../src/files/disk.ts';
import { freshFolder } from '../scratch.ts';

test('what a file system cannot flush to disk is no failure, and what is not there is one', async () => {
  // Like a folder of some network file systems, it is opened, and refuses to be flushed.
  await syncPath(devNull);
  await syncPath(freshFolder());
  await expect(syncPath(join(freshFolder(), 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file that is replaced is flushed to disk before it gets its name', async () => {
  const path = join(freshFolder(), 'out.csv');
  const some = await open(devNull);
  const sync = vi.spyOn(Object.getPrototypeOf(some), 'sync');
  onTestFinished(() => sync.mockRestore());
  await some.close();
  const named: boolean[] = [];
  sync.mockImplementation(async () => void named.push(existsSync(path)));
  await writeAtomically(path, (draft) => writeFile(draft, 'rows'));
  expect([named[0], existsSync(path)]).toEqual([false, true]);
});
