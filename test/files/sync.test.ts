import { devNull } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncPath } from '../../src/files/disk.ts';
import { freshFolder } from '../scratch.ts';

test('what a file system cannot flush to disk is no failure, and what is not there is one', async () => {
  // Like a folder of some network file systems, it is opened, and refuses to be flushed.
  await syncPath(devNull);
  await syncPath(freshFolder());
  await expect(syncPath(join(freshFolder(), 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});
