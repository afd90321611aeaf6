import { StoreError } from '../../core/errors.ts';
import type { ObjectStore } from '../../objects/object-store.ts';

/**
 * Tries whether a store puts an object only if there is none. Some take the condition and ignore it: two writers would overwrite each
 * other's commits.
 *
 * @throws {StoreError} `no-conditions`
 */
export async function requireConditionalPut(objects: ObjectStore, id: string): Promise<void> {
  const key = `_probe/${id}`;
  let answers: readonly boolean[];
  try {
    answers = [
      (await objects.putOrGet(key, Buffer.from(`${id} first`))) === undefined,
      (await objects.putOrGet(key, Buffer.from(`${id} second`))) === undefined,
    ];
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'unsupported') throw error;
    throw noConditions(objects.url, error);
  }
  await objects.remove([key]);
  if (answers.join() !== 'true,false') throw noConditions(objects.url);
}

function noConditions(url: string, cause?: unknown): StoreError {
  return new StoreError(
    `store: ${url}: this store overwrites objects that should only be put if absent (If-None-Match)`,
    {
      code: 'no-conditions',
      hint: 'writers could overwrite each other there: use a store that knows the condition, or write to a folder and copy it',
      cause,
    },
  );
}
