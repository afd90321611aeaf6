import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Store } from '../../src/warehouse/store.ts';
import { watchFlushes, whereOneFails } from './filesystem.ts';
import {
  commitItems,
  countItems,
  draftOf,
  filesOf,
  freshPath,
  openTestReader,
  openTestStore,
  stageItems,
} from './warehouses.ts';

/** Fails after the entry is in the ledger: its draft cannot be removed. */
const failAfter = (number: number, work: () => Promise<unknown>) =>
  whereOneFails('unlink', `-0000000${number}.json`, () => expect(work()).rejects.toMatchObject({ code: 'failed' }));

/** Keeps the items 0 to 9 of an entry, and removes 10 to 19, as `forget` does. */
async function forget(store: Store, old: string): Promise<unknown> {
  const kept = { staged: await stageItems(store, { from: 0, to: 9 }), draft: draftOf({ from: 0, to: 9 }) };
  const id = 'f00000000001';
  const draft = draftOf(
    { from: 10, to: 19 },
    { scope: 'forgotten', forgotten: { by: 'retention' }, supersedes: [id, old] },
  );
  return store.commitTogether([kept, { staged: { id, tables: {} }, draft }]);
}

test('a commit that failed after its last entry was there keeps the files of all its entries', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  const { id } = await commitItems(store, 0, 19);
  await failAfter(3, () => forget(store, id));
  await store.clearSuperseded();
  const kept = filesOf(store.ledger().filter(({ number }) => number === 2));
  expect(kept.map((file) => existsSync(join(path, file.path)))).toEqual([true, true]);
  await commitItems(store, 20, 29);
  await store.close();
  expect(await countItems(await openTestReader(path))).toMatchObject({ rows: 20, distinct: 20 });
});

test('the next commit syncs the folders that a failed one has made', async () => {
  const path = freshPath('parquet');
  const store = await openTestStore(path);
  const staged = await stageItems(store, { from: 0, to: 9 });
  await whereOneFails('open', 'tables/items', () =>
    expect(store.commit(staged, draftOf({ from: 0, to: 9 }))).rejects.toMatchObject({ code: 'failed' }),
  );
  const isFlushed = await watchFlushes(async () => {
    await commitItems(store, 0, 9);
  });
  expect(isFlushed(join(path, 'tables', 'items'))).toBe(true);
});

test('a writer whose commit failed after its entry was there has the rows, and goes on', async () => {
  const store = await openTestStore(freshPath('parquet'));
  const staged = await stageItems(store, { from: 0, to: 9 });
  await failAfter(1, () => commitItems(store, 0, 9));
  expect(store.ledger().map(({ number }) => number)).toEqual([1]);
  // Planned before the failure: its rows are there by now.
  await expect(store.commit(staged, draftOf({ from: 0, to: 9 }))).rejects.toMatchObject({
    code: 'committed-meanwhile',
  });
  await commitItems(store, 10, 19);
  expect(await countItems(store)).toMatchObject({ rows: 20, distinct: 20 });
});

test('a refused commit puts no files into their places', async () => {
  const path = freshPath('parquet');
  const steps: string[] = [];
  const store = await openTestStore(path, { onStep: async (step) => void steps.push(step) });
  const staged = await stageItems(store, { from: 0, to: 9 });
  const draft = draftOf({ from: 0, to: 9 }, { supersedes: ['e00000000009'] });
  await expect(store.commit(staged, draft)).rejects.toThrow('e00000000009');
  expect(steps).not.toContain('move file');
});
