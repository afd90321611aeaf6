import { DeclarationFolder } from '../ledger/declarations.ts';
import { readIdentity } from '../ledger/ledger-folder.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openPlace } from './bucket-place.ts';
import { openBucketReader } from './bucket-reader.ts';
import { openBucketStore } from './bucket-store.ts';
import { openDamagedBucket } from './damaged-bucket.ts';

/** Parquet files in an object store. */
export const bucketDriver: StoreDriver & { exists(path: string): Promise<boolean> } = {
  openStore: openBucketStore,
  openReader: openBucketReader,
  useDeclarations: (path, use) => use(new DeclarationFolder(path, openPlace(path).files)),
  openDamaged: openDamagedBucket,
  /** True if there is a warehouse, or what is left of one. @throws {StoreError} `bad-ledger` */
  exists: async (path) => (await readIdentity(path, openPlace(path).files)) !== undefined,
};
