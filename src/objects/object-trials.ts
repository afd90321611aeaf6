import { StoreError } from '../core/errors.ts';
import type { Trial } from '../core/trial.ts';
import type { ObjectStore } from './object-store.ts';

/** Prefix of probe objects. */
const PROBES = '_probe/';

/** Each right that files in an object store need. */
export function objectTrials(objects: ObjectStore, id: string): readonly Trial[] {
  const { url } = objects;
  const key = `${PROBES}${id}`;
  return [
    { name: `list ${url}`, attempt: () => objects.list(PROBES).then(() => undefined) },
    { name: `put objects in ${url}`, attempt: () => objects.put(key, Buffer.from(id)) },
    { name: `read objects of ${url}`, attempt: () => objects.get(key).then(() => undefined) },
    { name: `delete objects of ${url}`, attempt: () => objects.remove([key]) },
  ];
}

/** Each right that commits, merges and garbage collection need of an object store. */
export function bucketTrials(objects: ObjectStore, id: string): readonly Trial[] {
  const { url } = objects;
  return [
    ...objectTrials(objects, id),
    { name: `put objects in ${url} only if absent`, attempt: () => requireConditionalPut(objects, `${id}-absent`) },
    { name: `list unfinished uploads of ${url}`, attempt: () => objects.abortUploads(PROBES, 0).then(() => undefined) },
  ];
}

/**
 * Checks that a store supports `If-None-Match`. Some ignore the condition: two writers would overwrite each other's commits.
 *
 * @throws {StoreError}
 */
export async function requireConditionalPut(objects: ObjectStore, id: string): Promise<void> {
  const key = `${PROBES}${id}`;
  await putTwice(objects, key);
  await objects.remove([key]);
}

async function putTwice(objects: ObjectStore, key: string): Promise<void> {
  let results: readonly boolean[];
  try {
    results = [
      (await objects.putOrGet(key, Buffer.from(`${key} first`))) === undefined,
      (await objects.putOrGet(key, Buffer.from(`${key} second`))) === undefined,
    ];
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'unsupported') throw error;
    throw noConditions(objects.url, error);
  }
  if (results.join() !== 'true,false') throw noConditions(objects.url);
}

function noConditions(url: string, cause?: unknown): StoreError {
  return new StoreError(
    `store: ${url}: this store overwrites objects that should only be put if absent (If-None-Match)`,
    {
      hint: 'writers could overwrite each other there: use a store that knows the condition, or write to a folder and copy it',
      cause,
    },
  );
}
