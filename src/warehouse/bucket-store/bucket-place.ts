import type { ObjectStore } from '../../objects/object-store.ts';
import { s3Access } from '../../objects/s3-client.ts';
import { objectFailure } from '../../objects/s3-failure.ts';
import { parseLocation } from '../../objects/s3-location.ts';
import { openS3Store } from '../../objects/s3-store.ts';
import type { Database } from '../../sql/database.ts';
import { loadHttpfs, putSecret } from '../../sql/httpfs.ts';
import { LedgerFolder } from '../ledger/ledger-folder.ts';
import { BucketCheckpoints, BucketFiles } from './bucket-files.ts';

/** A warehouse in an object store, before anything is read. */
export interface BucketPlace {
  /** `s3://bucket/prefix`. */
  readonly path: string;
  readonly objects: ObjectStore;
  readonly files: BucketFiles;
}

export function openPlace(path: string): BucketPlace {
  const objects = openS3Store(path);
  return { path, objects, files: new BucketFiles(objects) };
}

/** Its ledger, not read yet. */
export function ledgerIn({ path, objects, files }: BucketPlace): LedgerFolder {
  return new LedgerFolder(path, { files, checkpoints: new BucketCheckpoints(objects) });
}

/** Lets a database read the data files of a location. Called before each query: credentials may have been renewed. */
export function remoteAccess(path: string): (database: Database) => Promise<void> {
  let given: string | undefined;
  return async (database) => {
    if (given === undefined) await loadHttpfs(database);
    const access = await s3Access(parseLocation(path)).catch((error: unknown) => {
      throw objectFailure(error, path);
    });
    const current = JSON.stringify(access);
    if (current === given) return;
    await putSecret(database, access);
    given = current;
  };
}
