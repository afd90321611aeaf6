import { DeclarationFolder } from '../ledger/declarations.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFolder } from './damaged-folder.ts';
import { openParquetReader } from './parquet-reader.ts';
import { openParquetStore } from './parquet-store.ts';

/** A folder of Parquet files. */
export const parquetDriver: StoreDriver = {
  openStore: openParquetStore,
  openReader: openParquetReader,
  useDeclarations: (path, use) => use(new DeclarationFolder(path)),
  openDamaged: openDamagedFolder,
};
