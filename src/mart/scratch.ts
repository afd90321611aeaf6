import type { TableDef } from '../declare/table.ts';
import type { Registry } from '../registry.ts';
import { quoteName } from '../store/canonical.ts';
import { commitsView } from '../store/catalog.ts';
import { Database } from '../store/database.ts';
import { defineMacros } from '../store/macros.ts';
import { selectFiles } from '../store/relation.ts';

/** An empty database with every declared table and some marts, in which selects can be looked at. */
export async function openScratch(
  registry: Registry,
  marts: readonly { readonly table: TableDef }[] = [],
): Promise<Database> {
  const database = await Database.open(':memory:', { threads: '1' });
  try {
    await defineMacros(database);
    await database.run(commitsView([]));
    for (const table of [...registry.tables, ...marts.map((mart) => mart.table)]) {
      await database.run(`CREATE VIEW ${quoteName(table.name)} AS ${selectFiles(table, [])}`);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
