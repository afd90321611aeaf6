import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { readLockHolder, takeLock } from '../../src/files/writer-lock.ts';
import { Instance } from '../../src/sql/instance.ts';
import { Stager } from '../../src/warehouse/staging/stager.ts';
import { freshFolder } from '../scratch.ts';
import { makeBatchOf } from './batches.ts';
import { whereStuck } from './filesystem.ts';
import { itemRows, items } from './tables.ts';
import { commitItems, countItems, freshPath, openTestStore, type StoreKind } from './warehouses.ts';

const places = (path: string, kind: StoreKind) =>
  kind === 'parquet'
    ? { stage: join(path, '_stage'), lock: join(path, '_lock') }
    : { stage: `${path}.stage`, lock: `${path}.lock` };

test.each<StoreKind>(['parquet', 'duckdb'])(
  '%s: a stage that cannot be cleared is told, and the lock is released',
  async (kind) => {
    const path = freshPath(kind);
    const { stage, lock } = places(path, kind);
    const store = await openTestStore(path);
    await commitItems(store, 1, 10);
    await whereStuck(stage, () => expect(store.close()).rejects.toThrow('EBUSY'));
    expect(await readLockHolder(lock)).toBeUndefined();
    const again = await openTestStore(path);
    expect((await countItems(again)).rows).toBe(10);
  },
);

test.each<StoreKind>(['parquet', 'duckdb'])(
  '%s: a warehouse that is refused is told why, and its lock is released',
  async (kind) => {
    const path = freshPath(kind);
    const { stage, lock } = places(path, kind);
    await (await openTestStore(path)).close();
    await whereStuck(stage, () =>
      expect(openTestStore(path, { network: 'other' })).rejects.toMatchObject({ code: 'other-network' }),
    );
    expect(await readLockHolder(lock)).toBeUndefined();
  },
);

test('a lock that cannot be tidied up is not held', async () => {
  const path = join(freshFolder(), '_lock');
  const left = `${path}.left`;
  await writeFile(left, '');
  const take = () => takeLock({ path, subject: 'warehouse /w', command: 'c', effects: realEffects });
  await whereStuck(left, () => expect(take()).rejects.toThrow('EBUSY'));
  expect(await readLockHolder(path)).toBeUndefined();
  await (await take()).release();
});

test('an instance that could not be opened can be closed', async () => {
  const instance = new Instance({ memory_limit: 'much' });
  const stager = new Stager({ form: 'final', stagingPath: freshFolder() }, instance, realEffects.freshId);
  const stage = stager.stage({ from: 1, to: 10 });
  await stage.write(makeBatchOf(items, itemRows(1, 10)));
  await expect(stage.finish()).rejects.toMatchObject({ code: 'failed' });
  await instance.close();
});
