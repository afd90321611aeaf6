import { openFilesWriter } from '../files-writer.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { openBackend } from '../open-backend.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFiles } from './damaged-files.ts';
import { openParquetReader } from './parquet-reader.ts';

/** Parquet files, in a folder or in an object store. */
export const filesDriver: StoreDriver = {
  openWriter: async (path, options) => openFilesWriter(await openBackend(path), options),
  openReader: async (path, tablesOf, options) => openParquetReader(await openBackend(path), tablesOf, options),
  useDeclarations: async (path, use) => use(new DeclarationFolder((await openBackend(path)).objects)),
  openDamaged: async (path, database, { tables, proven }) =>
    openDamagedFiles(await openBackend(path), database, tables, proven),
};
