import { isObjectUrl } from '../../objects/s3-location.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { openBackend } from '../open-backend.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFiles } from './damaged-files.ts';
import { openParquetReader } from './parquet-reader.ts';

/** Parquet files, in a folder or in an object store. */
export const filesDriver: StoreDriver = {
  openStore: async (options) => {
    if (isObjectUrl(options.path)) return (await import('../bucket-store/bucket-store.ts')).openBucketStore(options);
    return (await import('./parquet-store.ts')).openParquetStore(options);
  },
  openReader: async (path, tables, options) => openParquetReader(await openBackend(path), tables, options),
  useDeclarations: async (path, use) => use(new DeclarationFolder(path, (await openBackend(path)).files)),
  openDamaged: async (path, database) => openDamagedFiles(await openBackend(path), database),
};
