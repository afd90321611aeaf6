import type { TableDef } from '../../declare/table.ts';
import { Database } from '../../sql/database.ts';
import { copyEmptyFile, keepEmptyFile } from '../empty-files.ts';
import { declaredMacros } from '../relations/macros.ts';
import { emptyView } from '../relations/table-relation.ts';

/** Opening a view reads a file of its table; a cache would keep a piece of each file that was ever merged away. */
export const CATALOG_SETTINGS = { threads: '1', enable_external_file_cache: 'false' } as const;

/** Opens a new catalog at `path`, with all macros, and views of tables without rows. */
export async function openEmptyCatalog(path: string, tables: readonly TableDef[]): Promise<Database> {
  const sql = [...declaredMacros().map(({ statement }) => statement()), ...tables.map(emptyView)].join(';\n');
  const isCopied = await copyEmptyFile(sql, path);
  const database = await Database.open(path, CATALOG_SETTINGS);
  if (isCopied) return database;
  try {
    await database.transaction(() => database.run(sql));
    await database.run('CHECKPOINT');
    await keepEmptyFile(sql, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
