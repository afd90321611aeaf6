import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { statIfAny } from '../../files/disk.ts';
import { downloadObject, sumObject } from '../../objects/object-files.ts';
import type { FileSum } from '../../objects/object-store.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { daysIn, type PathOf, selectEntries } from '../parquet-store/entry-files.ts';
import type { EntryRows, TableFile } from '../store.ts';
import type { BucketPlace } from './bucket-place.ts';

export interface BucketRowsOptions {
  readonly place: BucketPlace;
  readonly ledger: LedgerFolder;
  readonly pathOf: PathOf;
}

/** {@link EntryRows} of a warehouse in an object store. */
export function bucketRows({ place, ledger, pathOf }: BucketRowsOptions): EntryRows {
  return {
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    days: daysIn(ledger),
    requireSound: async ({ tables }) => {
      for (const { files } of Object.values(tables)) {
        for (const file of files) requireSame(place, file, await sumObject(place.objects, file.path));
      }
    },
    localFolder: async (files, scratch) => {
      const folder = join(scratch, 'fetched');
      for (const file of files) {
        const path = join(folder, file.path);
        if ((await statIfAny(path)) !== undefined) continue;
        await mkdir(dirname(path), { recursive: true });
        await fetchFile(place, file, path);
      }
      return folder;
    },
  };
}

/** Fetches a data file as it was committed. @throws {StoreError} `damaged` */
export async function fetchFile(place: BucketPlace, file: TableFile, local: string): Promise<void> {
  requireSame(place, file, await downloadObject(place.objects, file.path, local));
}

/** @throws {StoreError} `damaged` */
function requireSame({ path }: BucketPlace, file: TableFile, got: FileSum | undefined): void {
  if (got?.bytes === file.bytes && got.sha256 === file.sha256) return;
  throw new StoreError(`store: ${path}/${file.path} differs from the committed file`, {
    code: 'damaged',
    hint: `tonlake verify --repair --warehouse ${path}`,
  });
}
