import { readLockHolder } from '../../files/writer-lock.ts';
import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFile } from './damaged-file.ts';
import { declarationsIn, openFile, pathsOf, readNetwork } from './database-file.ts';
import { openDuckdbReader } from './duckdb-reader.ts';
import { openDuckdbWriter } from './duckdb-writer.ts';

const useDeclarations: StoreDriver['useDeclarations'] = async (path, use) => {
  if ((await readLockHolder(pathsOf(path).lock)) !== undefined) return undefined;
  const database = await openFile(path, { access_mode: 'READ_ONLY' });
  try {
    await readNetwork(database, path);
    return await use(declarationsIn(database));
  } finally {
    database.close();
  }
};

/** Warehouses that are one DuckDB file. */
export const duckdbDriver: StoreDriver = {
  openWriter: openDuckdbWriter,
  openReader: openDuckdbReader,
  useDeclarations,
  openDamaged: openDamagedFile,
};
