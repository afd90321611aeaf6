import { copyFile, writeFile } from 'node:fs/promises';
import type { SQLiteValue, Database as SqliteDatabase } from 'node-sqlite3-wasm';
import { StoreError } from '../core/errors.ts';
import { statIfAny } from '../files/disk.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { duckdbApi } from '../sql/duckdb-api.ts';
import type { CellNotes } from './cell-notes.ts';
import { type ColumnClass, castOf } from './column-class.ts';
import { DAY_COLUMN, type ExportedColumn, type ExportedRows } from './exported-rows.ts';
import {
  columnsToAdd,
  type DayReport,
  NO_DAY,
  OWN_TABLE,
  replaceEach,
  requireOwnTable,
  type TableOptions,
} from './owned-table.ts';

/** SQLite's type for each class. Decimals are text, because its numbers have 64 bits. */
export const SQLITE_TYPES: Readonly<Record<ColumnClass, string>> = {
  boolean: 'INTEGER',
  int32: 'INTEGER',
  int64: 'INTEGER',
  decimal: 'TEXT',
  double: 'REAL',
  text: 'TEXT',
  json: 'TEXT',
  bytes: 'BLOB',
  date: 'TEXT',
  timestamp: 'TEXT',
};

/**
 * Writes rows to a table of a SQLite file: the days of the rows replace those in the table, or all rows if they have no days. The file
 * is a draft next to the target: readers see the old file until it is renamed.
 *
 * @param path the target; its other tables are kept
 */
export async function writeSqlite(
  rows: ExportedRows,
  { path, draft }: { readonly path: string; readonly draft: string },
  options: TableOptions,
): Promise<readonly DayReport[]> {
  await copyTarget(path, draft);
  const { Database } = await import('node-sqlite3-wasm').then((module) => module.default);
  const database = new Database(draft);
  try {
    // The draft is thrown away if the process ends.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN');
    prepareTable(database, rows, options);
    const reports = await replaceEach(rows, (day) => replaceDay(database, rows, day, options));
    database.exec('COMMIT');
    return reports;
  } finally {
    database.close();
  }
}

/** @throws {StoreError} `busy` if a program is writing the file */
async function copyTarget(path: string, draft: string): Promise<void> {
  // SQLite itself would create a file that only its owner can read.
  if ((await statIfAny(path)) === undefined) return writeFile(draft, '');
  for (const ending of ['-wal', '-journal']) {
    if (((await statIfAny(path + ending))?.size ?? 0) === 0) continue;
    throw new StoreError(
      `store: file ${path}: expected a SQLite file that no program is writing, got ${path}${ending} beside it`,
      {
        code: 'busy',
        hint: 'close the programs that have it open, and try again',
      },
    );
  }
  await copyFile(path, draft);
}

function prepareTable(
  database: SqliteDatabase,
  { columns, key, network, isDated }: ExportedRows,
  { name }: TableOptions,
): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${OWN_TABLE} (table_name TEXT, day TEXT, rows INTEGER, network TEXT, exported_at TEXT, PRIMARY KEY (table_name, day))`,
  );
  const wanted = columns.map((column) => ({ name: column.name, type: SQLITE_TYPES[column.classed.class] }));
  const found = database.all('SELECT name, type FROM pragma_table_info(?)', [name]);
  if (found.length === 0) {
    database.run(`DELETE FROM ${OWN_TABLE} WHERE table_name = ?`, [name]);
    const primary = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoteName).join(', ')})`];
    const list = [...wanted.map((column) => `${quoteName(column.name)} ${column.type}`), ...primary];
    database.exec(`CREATE TABLE ${quoteName(name)} (${list.join(', ')})`);
    if (isDated)
      database.exec(`CREATE INDEX ${quoteName(`${name}_${DAY_COLUMN}`)} ON ${quoteName(name)} (${DAY_COLUMN})`);
    return;
  }
  const record = database.get(`SELECT network FROM ${OWN_TABLE} WHERE table_name = ? LIMIT 1`, [name]);
  requireOwnTable(name, record === null ? undefined : String(record['network']), network);
  const existing = found.map((column) => ({ name: String(column['name']), type: String(column['type']) }));
  for (const column of columnsToAdd(name, wanted, existing))
    database.exec(`ALTER TABLE ${quoteName(name)} ADD COLUMN ${quoteName(column.name)} ${column.type}`);
}

async function replaceDay(
  database: SqliteDatabase,
  { columns, network, read }: ExportedRows,
  day: string | null | undefined,
  { name, notes, exportedAt }: TableOptions,
): Promise<number> {
  const table = quoteName(name);
  if (day === undefined) database.run(`DELETE FROM ${table}`);
  else database.run(`DELETE FROM ${table} WHERE ${DAY_COLUMN} IS ?`, [day]);
  const names = columns.map((column) => quoteName(column.name));
  const insert = database.prepare(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  let count = 0;
  try {
    const expressions = columns.map((column, at) => `${plainValue(column)} AS ${names[at]}`);
    await read(
      day,
      async (rows) => {
        for await (const chunk of rows.chunks()) {
          for (const row of chunk) insert.run(columns.map((column, at) => boundValue(column, row[at], notes)));
          count += chunk.length;
        }
      },
      expressions,
    );
  } finally {
    insert.finalize();
  }
  database.run(`INSERT OR REPLACE INTO ${OWN_TABLE} VALUES (?, ?, ?, ?, ?)`, [
    name,
    day ?? NO_DAY,
    count,
    network,
    exportedAt,
  ]);
  return count;
}

/** SQL for a value as it is bound: decimals, dates and times as text. */
function plainValue(column: ExportedColumn): string {
  const value = castOf(column);
  return ['decimal', 'date', 'timestamp'].includes(column.classed.class) ? `${value}::VARCHAR` : value;
}

function boundValue({ name }: ExportedColumn, value: unknown, notes: CellNotes): SQLiteValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return value;
  if (value instanceof duckdbApi().DuckDBBlobValue) return value.bytes;
  if (typeof value !== 'number') return String(value);
  if (!Number.isNaN(value)) return value;
  notes.add('the number NaN, which SQLite would store as null, is the text NaN', name);
  return 'NaN';
}
