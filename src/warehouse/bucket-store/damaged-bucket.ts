import { sumObject } from '../../objects/object-files.ts';
import type { Database } from '../../sql/database.ts';
import { type DamagedStore, type LostEntry, surveyLedger, voidEntry } from '../damaged-store.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { entryName, LEDGER } from '../ledger/ledger-folder.ts';
import { findIdentity, networkOf, restoreIdentity } from '../ledger/lost-identity.ts';
import { checkFiles } from '../parquet-store/check-files.ts';
import { findLost, readDamaged, wrongCheckpoints } from '../parquet-store/damaged-folder.ts';
import { type PathOf, selectEachFile, selectEntries } from '../parquet-store/entry-files.ts';
import { type BucketPlace, ledgerIn, openPlace, remoteAccess } from './bucket-place.ts';

/**
 * Opens whatever can be read of a warehouse in an object store.
 * @throws {StoreError} `no-warehouse`; `bad-ledger` if neither its description nor its entries name one network
 */
export async function openDamagedBucket(path: string, database: Database): Promise<DamagedStore> {
  const place = openPlace(path);
  const identity = await findIdentity(path, place.files);
  await remoteAccess(path)(database);
  const { ledger, broken, faults } = await readDamaged(ledgerIn(place));
  const { network, unnamed } = networkOf(identity, ledger.entries);
  const lost = await findLost(ledger, broken, new Map(), (number) => isThere(place, number));
  const pathOf: PathOf = (file) => `${path}/${file}`;
  return {
    ...surveyLedger(ledger.entries, network, lost, [...unnamed, ...faults, ...(await wrongCheckpoints(ledger))]),
    ...{ kind: 'parquet', path, database },
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    selectEach: (table, entries) => selectEachFile(pathOf, ledger, table, entries),
    checkBytes: (part, query) =>
      checkFiles(
        async (file) => ({
          absolute: pathOf(file.path),
          bytes: (await place.objects.head(file.path))?.bytes,
          hash: async () => (await sumObject(place.objects, file.path))?.sha256,
        }),
        part,
        query,
      ),
    declarations: new DeclarationFolder(path, place.files),
    fillLedger: async ({ effects }) => {
      await restoreIdentity(place.files, network, effects.now());
      await fillLedger(place, lost, (each) => voidEntry(network, each, effects));
    },
    restoreDeclarations: async (gone) => {
      const folder = new DeclarationFolder(path, place.files);
      for (const { pipeline, number } of gone) await folder.replace(pipeline, number);
    },
    close: () => database.close(),
  };
}

/** True if an object has the name of an entry. */
async function isThere({ objects }: BucketPlace, number: number): Promise<boolean> {
  return (await objects.head(`${LEDGER}/${entryName(number)}`)) !== undefined;
}

/** {@link DamagedStore.fillLedger} without a lock: a number that another process fills first is filled. */
async function fillLedger(
  place: BucketPlace,
  lost: readonly LostEntry[],
  filling: (lost: LostEntry) => ReturnType<typeof voidEntry>,
): Promise<void> {
  const { objects } = place;
  const { ledger, broken } = await readDamaged(ledgerIn(place));
  for (const each of lost.filter(({ isGap, number }) => isGap && broken.has(number))) {
    const entry = filling(each);
    const key = `${LEDGER}/${entryName(each.number)}`;
    const text = Buffer.from(`${JSON.stringify(entry)}\n`);
    const broken = each.isBroken ? await objects.get(key) : undefined;
    if (broken === undefined) {
      await objects.putIfAbsent(key, text);
    } else {
      await objects.put(`${LEDGER}/.broken-${each.number}-${entry.id}.json`, broken);
      // Another repair may have been here, and a writer after it.
      await objects.putInPlaceOf(key, broken, text);
    }
  }
  if ((await ledger.findWrongCheckpoints()).length > 0 || broken.size > 0) {
    const checkpoints = await objects.list('_checkpoints/');
    await objects.remove(checkpoints.map(({ key }) => key));
  }
}
