import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import { StoreError } from '../errors.ts';
import { quoteName, quoteText } from './canonical.ts';
import { Database } from './database.ts';
import { statIfAny, syncPath } from './disk.ts';
import { badLedger, Entries, parseEntry } from './entries.ts';
import { requireReadable, type SchemaColumn, schemaOf } from './schema.ts';
import type { LedgerEntry } from './store.ts';

/**
 * What the one-file store keeps in its file: the rows of each table with the number of their ledger entry (`_rows.<table>`),
 * views without that number (`<table>`), the ledger (`_ledger`, and the view `_commits`) and the network (`_meta`).
 */
const layout = [
  'CREATE TABLE _meta (name VARCHAR, value VARCHAR)',
  `CREATE TABLE _ledger (number BIGINT, id VARCHAR, pipeline VARCHAR, span_from BIGINT, span_to BIGINT, verdict VARCHAR,
    rows JSON, requests BIGINT, committed_at TIMESTAMP, superseded_by BIGINT, entry VARCHAR)`,
  `CREATE VIEW _commits AS SELECT number, id, pipeline, span_from, span_to, verdict, rows, requests, committed_at
    FROM _ledger WHERE superseded_by IS NULL`,
  'CREATE SCHEMA _rows',
];

/** Paths beside the file. */
export function pathsOf(path: string) {
  return { lock: `${path}.lock`, stage: `${path}.stage` } as const;
}

/** The physical table behind a view. */
export function rowsOf(table: string): string {
  return `_rows.${quoteName(table)}`;
}

/** Makes the file if there is none: aside, then by rename, so that it is never half made. */
export async function createFile(path: string, network: string): Promise<void> {
  if ((await statIfAny(path)) !== undefined) return;
  const staged = join(pathsOf(path).stage, 'new.duckdb');
  const database = await Database.attach(staged, `BLOCK_SIZE ${BLOCK_BYTES}`);
  try {
    for (const statement of layout) await database.run(statement);
    await database.run(`INSERT INTO _meta VALUES ('format', '1'), ('network', ${quoteText(network)})`);
    await database.run('CHECKPOINT');
  } finally {
    database.close();
  }
  await syncPath(staged);
  await rename(staged, path);
  await syncPath(dirname(path));
}

/**
 * Rows of a row group. A commit of more than a few rows writes the last, unfinished group of each table anew; with DuckDB's own
 * 122,880 rows that is most of the work, takes most of the memory, and leaves a file three times as large.
 */
const ROW_GROUP_ROWS = 20_480;
/** A commit holds at least one block of each column, of which there are many; DuckDB's own 256 KiB add up. */
const BLOCK_BYTES = 65_536;

/** Opens the file for writing. @throws {StoreError} as {@link openFile} */
export async function openForWriting(path: string, settings: Readonly<Record<string, string>>): Promise<Database> {
  await requireDatabase(path);
  return Database.attach(path, `ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`, settings);
}

/** @throws {StoreError} when the path is no DuckDB file. */
export async function openFile(path: string, settings: Readonly<Record<string, string>>): Promise<Database> {
  await requireDatabase(path);
  return Database.open(path, settings);
}

async function requireDatabase(path: string): Promise<void> {
  const hint = 'choose another --warehouse';
  if ((await statIfAny(path))?.isDirectory() === true) {
    throw new StoreError(`store: warehouse ${path} is a folder, not a DuckDB file`, { code: 'wrong-path', hint });
  }
  const file = await open(path, 'r');
  try {
    // A DuckDB file begins with a checksum of 8 bytes, then these letters.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
    if (bytesRead < 12 || buffer.toString('latin1', 8) !== 'DUCK') {
      throw new StoreError(`store: warehouse ${path} is not a DuckDB file`, { code: 'no-database', hint });
    }
  } finally {
    await file.close();
  }
}

/** @throws {StoreError} `not-a-warehouse` when somebody else made the file. */
export async function readNetwork(database: Database, path: string): Promise<string> {
  const { rows: found } = await database.query(
    "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'main' AND table_name IN ('_meta', '_ledger')",
  );
  if (found[0]?.[0] !== 2n) {
    throw new StoreError(`store: ${path} is a DuckDB file, but no warehouse of tonlake`, {
      code: 'not-a-warehouse',
      hint: 'choose another --warehouse',
    });
  }
  const { rows } = await database.query('SELECT name, value FROM _meta');
  const meta = new Map(rows.map(([name, value]) => [String(name), String(value)]));
  const network = meta.get('network');
  if (network === undefined || meta.get('format') !== '1') throw badLedger(`${path} is of an unknown format`);
  return network;
}

export async function readEntries(database: Database, path: string): Promise<Entries> {
  const { rows } = await database.query('SELECT entry FROM _ledger ORDER BY number');
  const entries = new Entries();
  for (const [text] of rows) {
    const number = entries.nextNumber;
    entries.add(parseEntry(String(text), `row ${number} of _ledger in ${path}`, number));
  }
  return entries;
}

export async function insertEntry(database: Database, entry: LedgerEntry): Promise<void> {
  const counts = Object.fromEntries(Object.entries(entry.tables).map(([table, { rows }]) => [table, rows]));
  await database.run(
    `INSERT INTO _ledger VALUES ($number, $id, $pipeline, $from, $to, $verdict, $rows, $requests, $committedAt::TIMESTAMP,
      NULL, $entry)`,
    {
      number: BigInt(entry.number),
      id: entry.id,
      pipeline: entry.pipeline,
      from: BigInt(entry.span.from),
      to: BigInt(entry.span.to),
      verdict: entry.verdict,
      rows: JSON.stringify(counts),
      requests: BigInt(entry.requests),
      committedAt: entry.committedAt,
      entry: JSON.stringify(entry),
    },
  );
  for (const id of entry.supersedes) {
    await database.run('UPDATE _ledger SET superseded_by = $number WHERE id = $id', {
      number: BigInt(entry.number),
      id,
    });
  }
}

/** The columns of a table's rows as they lie in the file; none when the table is not there. */
export async function readColumns(database: Database, table: string): Promise<readonly SchemaColumn[]> {
  const { rows } = await database.query(
    `SELECT column_name, data_type FROM duckdb_columns()
      WHERE schema_name = '_rows' AND table_name = $table AND column_name <> '_entry' ORDER BY column_index`,
    { table },
  );
  return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
}

/** Makes the table and the view of a mart, or makes them hold its rows beside those of an older select. Part of a transaction. */
export async function declareMart(database: Database, table: TableDef): Promise<void> {
  const present = new Map((await readColumns(database, table.name)).map(({ name, type }) => [name, type]));
  const { columns } = schemaOf(table);
  const rows = rowsOf(table.name);
  if (present.size === 0) await createRows(database, table);
  else {
    for (const { name, type } of columns) {
      const held = present.get(name);
      const column = quoteName(name);
      if (held === undefined) await database.run(`ALTER TABLE ${rows} ADD COLUMN ${column} ${type}`);
      else if (held !== type)
        await database.run(`ALTER TABLE ${rows} ALTER ${column} TYPE ${type} USING TRY_CAST(${column} AS ${type})`);
    }
  }
  await createView(database, table);
}

async function createRows(database: Database, table: TableDef): Promise<void> {
  const list = schemaOf(table).columns.map(({ name, type }) => `${quoteName(name)} ${type}`);
  await database.run(`CREATE TABLE ${rowsOf(table.name)} (${list.join(', ')}, _entry BIGINT)`);
}

async function createView(database: Database, { name, columns }: TableDef): Promise<void> {
  const selected = columns.map((column) => quoteName(column.name)).join(', ');
  await database.run(`CREATE OR REPLACE VIEW ${quoteName(name)} AS SELECT ${selected} FROM ${rowsOf(name)}`);
}

/** Makes tables and views that are missing, and adds columns that were declared later. */
export async function declareTables(database: Database, tables: readonly TableDef[], path: string): Promise<void> {
  await database.transaction(async () => {
    for (const table of tables) {
      const present = await readColumns(database, table.name);
      requireReadable(table, present, path);
      const { columns } = schemaOf(table);
      if (present.length === 0) {
        await createRows(database, table);
      } else {
        const names = new Set(present.map(({ name }) => name));
        for (const { name, type } of columns.filter((column) => !names.has(column.name))) {
          await database.run(`ALTER TABLE ${rowsOf(table.name)} ADD COLUMN ${quoteName(name)} ${type}`);
        }
      }
      await createView(database, table);
    }
    for (const { name, sql } of tables.flatMap(({ views }) => views)) {
      await database.run(`CREATE OR REPLACE VIEW ${quoteName(name)} AS ${sql}`);
    }
  });
}
