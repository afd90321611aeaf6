import { StoreError } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { runLimited } from '../../core/run-limited.ts';
import { guarded } from '../../files/file-failure.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { type DataFile, type DataFiles, readInForce } from '../data-files.ts';
import { readIdentity } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { ledgerIn, openPlace } from './bucket-place.ts';

/** From this number of files of a table on, one listing costs less than a request for each. */
const LISTED_FILES = 50;
/** Files that are looked up concurrently. */
const LOOKUPS = 8;

/** @throws {StoreError} `no-warehouse` */
export async function openBucketDataFiles(path: string): Promise<DataFiles> {
  const place = openPlace(path);
  const identity = await guarded(`warehouse ${path}`, () => readIdentity(path, place.files));
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  return {
    ...{ path, network, objects: place.objects },
    read: (tables) => readInForce({ path, network }, ledgerIn(place), tables, (file) => file),
    keep: (files) => guarded(`warehouse ${path}`, () => requireFiles(place.objects, files)),
  };
}

/** A superseded file keeps its name in an object store, so it is enough that it is there. */
async function requireFiles(objects: ObjectStore, files: readonly DataFile[]): Promise<void> {
  const found = await sizesOf(objects, files);
  const lost = files.find(({ path, bytes }) => found.get(path) !== bytes);
  if (lost === undefined) return;
  const held = found.get(lost.path);
  const problem = held === undefined ? 'missing file' : `${held} of ${lost.bytes} bytes in file`;
  throw new StoreError(`store: warehouse ${objects.url}: ${problem} ${lost.path}, which its ledger names`, {
    code: 'bad-ledger',
    hint: `tonlake verify --repair --warehouse ${objects.url}`,
  });
}

async function sizesOf(objects: ObjectStore, files: readonly DataFile[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const byTable = groupBy(files, ({ path }) => path.split('/').slice(0, 2).join('/'));
  for (const [folder, own] of byTable) {
    if (own.length >= LISTED_FILES) {
      for (const { key, bytes } of await objects.list(`${folder}/`)) found.set(key, bytes);
      continue;
    }
    await runLimited(
      LOOKUPS,
      own.map(({ path }) => async () => {
        const held = await objects.head(path);
        if (held !== undefined) found.set(path, held.bytes);
      }),
    );
  }
  return found;
}
