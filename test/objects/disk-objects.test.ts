import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clearFolder } from '../../src/files/disk.ts';
import { diskObjects } from '../../src/objects/disk-objects.ts';
import { freshFolder } from '../scratch.ts';

test('objects are put while writers of the warehouse clear the folder of drafts', async () => {
  const root = freshFolder();
  const drafts = join(root, '_stage');
  const objects = diskObjects(root, drafts);
  const work = { isDone: false };
  const clear = async (): Promise<void> => {
    while (!work.isDone) {
      await clearFolder(drafts);
      await setTimeout(5);
    }
  };
  const put = async (): Promise<void> => {
    for (let at = 0; at < 500; at++) {
      await objects.put(`a/${at}`, Buffer.from(`${at}`));
      expect(await objects.putOrGet(`b/${at}`, Buffer.from(`${at}`))).toBeUndefined();
    }
    work.isDone = true;
  };
  await Promise.all([put(), clear()]);
  expect([(await objects.names('a')).length, (await objects.names('b')).length]).toEqual([500, 500]);
  expect((await objects.get('b/499'))?.toString()).toBe('499');
});

test('an object whose folder cannot be made is told', async () => {
  const root = freshFolder();
  const objects = diskObjects(root);
  await objects.put('a', Buffer.from('1'));
  await expect(objects.put('a/b', Buffer.from('2'))).rejects.toMatchObject({
    code: expect.stringMatching(/EEXIST|ENOTDIR/),
  });
});
