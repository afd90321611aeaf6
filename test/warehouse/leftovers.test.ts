import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { clearFiles } from '../../src/warehouse/garbage/collect-garbage.ts';
import { DataFolders } from '../../src/warehouse/garbage/data-folders.ts';
import { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import { commitItems, freshPath, listAll, openTestStore } from './warehouses.ts';

test('a file that an entry names by now stays, also where the ledger was read before', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  await commitItems(store, 1, 10);
  const ledger = new LedgerFolder(path);
  await ledger.refresh();
  const [file] = (await commitItems(store, 11, 20)).tables['items']?.files ?? [];
  await store.close();
  await writeFile(join(path, dirname(file?.path ?? ''), '1-9-abc.parquet'), 'of a commit that did not happen');
  const before = await listAll(join(path, 'tables'));
  const refresh = async () => void (await ledger.refresh());
  const grace = { now: Date.now(), ms: 0 };
  expect(await clearFiles(path, ledger, new DataFolders(path), grace, async () => {}, refresh)).toBe(1);
  expect(await listAll(join(path, 'tables'))).toEqual(before.filter((name) => !name.endsWith('1-9-abc.parquet')));
});
