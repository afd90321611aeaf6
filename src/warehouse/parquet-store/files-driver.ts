import { openFilesWriter } from '../files-writer.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { readIdentity } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { openBackend } from '../open-backend.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFiles } from './damaged-files.ts';
import { openParquetReader } from './parquet-reader.ts';

/** Parquet files, in a folder or in an object store. */
export const filesDriver: StoreDriver = {
  openWriter: async (path, options) => openFilesWriter(await openBackend(path), options),
  openReader: async (path, tablesOf, options) => openParquetReader(await openBackend(path), tablesOf, options),
  describe: async (path, use) => {
    const { objects } = await openBackend(path);
    const network = async (): Promise<string> => {
      const identity = await readIdentity(objects);
      if (identity === undefined) throw noWarehouse(path);
      return identity.network;
    };
    return use({ network, declarations: new DeclarationFolder(objects) });
  },
  openDamaged: async (path, database, { tables, proven }) =>
    openDamagedFiles(await openBackend(path), database, tables, proven),
};
