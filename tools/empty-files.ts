// Creates the initial database files of new warehouses with the shipped tables.
import { loadRegistry } from '../src/declare/registry.ts';
import { Database } from '../src/sql/database.ts';
import { emptyDatabase, fillDatabase } from '../src/warehouse/duckdb-store/database-file.ts';
import { shipEmptyFile } from '../src/warehouse/empty-files.ts';
import { emptyCatalog } from '../src/warehouse/relations/declared-relations.ts';

const { tables } = await loadRegistry();
const database = await Database.open();
await shipEmptyFile('catalog', emptyCatalog(tables), (path, statements) => database.changeFile(path, statements));
await shipEmptyFile('database', emptyDatabase(tables), fillDatabase);
database.close();
