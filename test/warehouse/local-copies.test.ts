import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalCopies } from '../../src/warehouse/bucket-store/local-copies.ts';
import type { StagedSpan } from '../../src/warehouse/store.ts';
import { freshFolder } from '../scratch.ts';

const LARGE = 200 * 2 ** 20;

test('a copy that was given up stays until the queries end that ran then, however long they take', async () => {
  const folder = freshFolder();
  const copies = new LocalCopies(join(folder, 'copies'));
  const take = (name: string): Promise<void> => copies.take(stagedIn(folder, name));
  await take('first');
  const local = copies.pathOf('tables/items/first.parquet') ?? '';
  let end = (): void => {};
  const slow = new Promise<void>((resolve) => {
    end = resolve;
  });
  const running = copies.readBy(() => slow);
  await take('second');
  expect(copies.pathOf('tables/items/first.parquet')).toBeUndefined();
  // Later queries end before it, and read the new place.
  await copies.readBy(async () => {});
  await take('third');
  expect(existsSync(local)).toBe(true);
  end();
  await running;
  expect(existsSync(local)).toBe(false);
});

function stagedIn(folder: string, name: string): StagedSpan {
  const stagedPath = join(folder, 'stage', `${name}.parquet`);
  mkdirSync(join(folder, 'stage'), { recursive: true });
  writeFileSync(stagedPath, name);
  const file = { path: `tables/items/${name}.parquet`, rows: 1, bytes: LARGE, bounds: {}, sha256: '', stagedPath };
  const evidence = { rows: 1, keyHash: '0', sums: {} };
  return { id: name, tables: { items: { ...evidence, schema: 's', isSorted: true, files: [file] } } };
}
