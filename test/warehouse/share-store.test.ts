import { describe, expect, test } from 'vitest';
import {
  commitItems,
  countItems,
  draftOf,
  freshPath,
  listAll,
  listFiles,
  openTestStore,
  type StoreKind,
  stageItems,
} from './warehouses.ts';

describe.each<StoreKind>(['parquet', 'duckdb'])('a %s warehouse that is shared', (kind) => {
  test('is written by others in this process, and closed with its last user', async () => {
    const path = freshPath(kind);
    const first = await openTestStore(path, { isShared: true });
    const second = await openTestStore(path);
    await commitItems(second, 1, 10);
    await commitItems(first, 11, 20);
    expect([await countItems(first), first.rivals?.size]).toEqual([{ rows: 20, distinct: 20, parts: 40 }, 1]);
    await first.close();
    await commitItems(second, 21, 30);
    await second.close();
    const again = await openTestStore(path);
    expect([await countItems(again), again.rivals?.size ?? 0]).toEqual([{ rows: 30, distinct: 30, parts: 60 }, 0]);
    await expect(openTestStore(path)).rejects.toMatchObject({ code: 'busy' });
  });

  test('takes the rows of a block once, from whoever commits them first', async () => {
    const path = freshPath(kind);
    const first = await openTestStore(path, { isShared: true });
    const second = await openTestStore(path);
    const staged = await Promise.all([first, second].map((store) => stageItems(store, { from: 1, to: 10 })));
    const ends = await Promise.allSettled(
      [first, second].map((store, at) =>
        store.commit(staged[at] ?? { id: '', tables: {} }, draftOf({ from: 1, to: 10 })),
      ),
    );
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(ends[1]).toMatchObject({ reason: { code: 'committed-meanwhile' } });
    expect((await countItems(second)).rows).toBe(10);
  });

  test('keeps no staged files of a race that was lost', async () => {
    const path = freshPath(kind);
    const first = await openTestStore(path, { isShared: true });
    const second = await openTestStore(path);
    const span = { from: 1, to: 10 };
    const staged = await stageItems(second, span);
    await commitItems(first, span.from, span.to);
    await expect(second.commit(staged, draftOf(span))).rejects.toMatchObject({ code: 'committed-meanwhile' });
    const files = await listAll(second.staging.stagingPath);
    expect(files.filter((name) => name.endsWith('.parquet'))).toEqual([]);
    if (kind === 'parquet') expect((await listFiles(path)).length).toBe(2);
    expect((await countItems(second)).rows).toBe(10);
  });

  test('refuses to replace what another user has replaced meanwhile', async () => {
    const path = freshPath(kind);
    const first = await openTestStore(path, { isShared: true });
    const second = await openTestStore(path);
    const { id } = await commitItems(first, 1, 10);
    const replace = async (store: typeof first) =>
      store.commit(await stageItems(store, { from: 1, to: 10 }), draftOf({ from: 1, to: 10 }, { supersedes: [id] }));
    await replace(first);
    await expect(replace(second)).rejects.toMatchObject({ code: 'committed-meanwhile' });
    expect((await countItems(first)).rows).toBe(10);
  });

  test('is not shared with a repair, whose entries to set aside are in force for the others', async () => {
    const path = freshPath(kind);
    const first = await openTestStore(path, { isShared: true });
    const { id } = await commitItems(first, 1, 10);
    await expect(openTestStore(path, { setAside: new Set([id]) })).rejects.toMatchObject({ code: 'busy' });
    await (await openTestStore(path, { setAside: new Set() })).close();
  });

  test('is of one network', async () => {
    const path = freshPath(kind);
    await openTestStore(path, { isShared: true });
    await expect(openTestStore(path, { network: 'mainnet' })).rejects.toMatchObject({ code: 'other-network' });
  });
});
