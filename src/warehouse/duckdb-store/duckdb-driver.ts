import type { StoreDriver } from '../store-driver.ts';
import { openDamagedFile } from './damaged-file.ts';
import { declarationsIn, openFile, readNetwork } from './database-file.ts';
import { openDuckdbReader, requireNoWriter } from './duckdb-reader.ts';
import { openDuckdbWriter } from './duckdb-writer.ts';

const describe: StoreDriver['describe'] = async (path, use) => {
  await requireNoWriter(path);
  const database = await openFile(path, { access_mode: 'READ_ONLY' });
  try {
    const network = await readNetwork(database, path);
    return await use({ network: async () => network, declarations: declarationsIn(database) });
  } finally {
    database.close();
  }
};

/** Warehouses that are one DuckDB file. */
export const duckdbDriver: StoreDriver = {
  openWriter: openDuckdbWriter,
  openReader: openDuckdbReader,
  describe,
  openDamaged: openDamagedFile,
};
