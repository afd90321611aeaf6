import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { sha256Of } from '../../core/sha256.ts';
import { parsePipeline, type StoredDeclaration } from '../../declare/stored-declaration.ts';
import type { TableDef } from '../../declare/table.ts';
import { statIfAny, syncPath } from '../../files/disk.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import { Database } from '../../sql/database.ts';
import { putEmptyFile } from '../empty-files.ts';
import type { Declarations } from '../ledger/declarations.ts';
import { badLedger, Entries, FORMAT, parseEntry, requireFormat } from '../ledger/entries.ts';
import { stateViews } from '../query/state-relations.ts';
import { COMMITS, commits } from '../relations/commits-view.ts';
import { declaredRelations, ROWS_SCHEMA, rowsOf, tableView, tonStatements } from '../relations/declared-relations.ts';
import { commentsOn } from '../relations/table-comments.ts';
import { requireWritable, type SchemaColumn, schemaOf } from '../relations/table-schema.ts';
import type { SelectEach } from '../select-each.ts';
import type { LedgerEntry } from '../store.ts';

/** The table of stored declarations. */
const DECLARATIONS = '_declarations';

/**
 * Contents of the file of a DuckDB warehouse: the rows of each table with the number of their ledger entry (`_rows.<table>`),
 * views without that number (`<table>`), the ledger (`_ledger`, and the views `_commits`, `_coverage` and `_freshness`) and the network (`_meta`).
 */
const layout = [
  'CREATE TABLE _meta (name VARCHAR, value VARCHAR)',
  `CREATE TABLE ${DECLARATIONS} (number BIGINT, pipeline VARCHAR, id VARCHAR, declaration VARCHAR)`,
  `CREATE TABLE _ledger (number BIGINT, id VARCHAR, pipeline VARCHAR, span_from BIGINT, span_to BIGINT, verdict VARCHAR,
    rows JSON, requests BIGINT, committed_at TIMESTAMP, superseded_by BIGINT, entry VARCHAR)`,
  `CREATE VIEW ${COMMITS} AS SELECT ${commits.columns.map(({ name }) => name).join(', ')}
    FROM _ledger WHERE superseded_by IS NULL`,
  ...stateViews(),
  ROWS_SCHEMA,
];

/** Paths next to the file. */
export function pathsOf(path: string) {
  return { lock: `${path}.lock`, stage: `${path}.stage` } as const;
}

/**
 * SQL for the declared columns of a table's rows in some entries; columns that the file lacks are null.
 * @param stored names of the columns that the file has
 * @param rows the physical table
 * @param more names of columns beside the declared ones
 */
export function selectRows(
  table: TableDef,
  entries: readonly Pick<LedgerEntry, 'number'>[],
  stored: ReadonlySet<string>,
  { rows = rowsOf(table.name), more = [] }: { readonly rows?: string; readonly more?: readonly string[] } = {},
): string {
  const columns = schemaOf(table).columns.map(({ name, type }) =>
    stored.has(name) ? quoteName(name) : `NULL::${type} AS ${quoteName(name)}`,
  );
  const list = entries.map(({ number }) => number).join(', ') || '-1';
  const which = entries.length === 1 ? `= ${list}` : `IN (${list})`;
  return `SELECT ${[...columns, ...more].join(', ')} FROM ${rows} WHERE _entry ${which}`;
}

/** A select with `_entry`, the number of the entry of each row. */
export function selectEachRow(sql: string): SelectEach {
  return { sql, by: '_entry', position: undefined, ownerOf: (value) => ({ entry: Number(value) }) };
}

/** Creates the file with all tables and views, if it does not exist. It is staged, then renamed, so it is never incomplete. */
export async function createFile(path: string, network: string, tables: readonly TableDef[]): Promise<void> {
  if ((await statIfAny(path)) !== undefined) return;
  const staged = join(pathsOf(path).stage, 'new.duckdb');
  const identity = `INSERT INTO _meta VALUES ('format', '1'), ('network', ${quoteText(network)}), ('${DECLARED}', '${declarationHash(tables)}')`;
  await putEmptyFile([...emptyDatabase(tables), identity], staged, fillDatabase);
  await syncPath(staged);
  await rename(staged, path);
  await syncPath(dirname(path));
}

/** SQL of a file without rows and network. */
export function emptyDatabase(tables: readonly TableDef[]): readonly string[] {
  return [...layout, ...tables.map(rowsStatement), ...declaredIn(tables)];
}

/** Runs statements in a file, which is created if it does not exist. */
export async function fillDatabase(path: string, statements: readonly string[]): Promise<void> {
  const database = await Database.open(':memory:', { threads: '1' });
  try {
    await database.changeFile(path, statements, `BLOCK_SIZE ${BLOCK_BYTES}, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`);
  } finally {
    database.close();
  }
}

/**
 * Rows of a row group. A commit of more than a few rows rewrites the last, incomplete group of each table. With DuckDB's default of 122,880
 * rows, that would take most of the time and memory, and the file would be three times as large.
 */
const ROW_GROUP_ROWS = 20_480;
/** A commit has at least one block of each column in memory. With many columns, DuckDB's default of 256 KiB is too much. */
const BLOCK_BYTES = 65_536;

/** Opens the file for writing. @throws {StoreError} as {@link openFile} */
export async function openForWriting(path: string, settings: Readonly<Record<string, string>>): Promise<Database> {
  await requireDatabase(path);
  return Database.attach(path, `ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`, settings);
}

/** @throws {StoreError} if the path is not a DuckDB file */
export async function openFile(path: string, settings: Readonly<Record<string, string>>): Promise<Database> {
  await requireDatabase(path);
  return Database.open(path, settings);
}

/** Opens the file read-only, so that it can be closed before the database. @throws {StoreError} as {@link openFile} */
export async function attachFile(path: string, settings: Readonly<Record<string, string>>): Promise<Database> {
  await requireDatabase(path);
  return Database.attach(path, 'READ_ONLY', settings);
}

/** @throws {StoreError} if the path is not a DuckDB file */
export async function requireDatabase(path: string): Promise<void> {
  const hint = 'choose another --warehouse';
  if ((await statIfAny(path))?.isDirectory() === true) {
    throw new StoreError(`store: warehouse ${path} is a folder, not a DuckDB file`, { code: 'wrong-path', hint });
  }
  const file = await open(path, 'r');
  try {
    // A DuckDB file begins with a checksum of 8 bytes and these letters.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
    if (bytesRead < 12 || buffer.toString('latin1', 8) !== 'DUCK') {
      throw new StoreError(`store: warehouse ${path} is not a DuckDB file`, { code: 'no-database', hint });
    }
  } finally {
    await file.close();
  }
}

/** @throws {StoreError} if tonlake did not create the file */
export async function readNetwork(database: Database, path: string): Promise<string> {
  const meta = await readMeta(database).catch((error: Error) => {
    if (!/^(Catalog|Binder) Error/.test(error.message)) throw error;
    throw new StoreError(`store: ${path} is a DuckDB file, but not a tonlake warehouse`, {
      hint: 'choose another --warehouse',
    });
  });
  const network = meta.get('network');
  requireFormat(meta.get('format'), `warehouse ${path}`);
  if (network === undefined || meta.get('format') !== String(FORMAT))
    throw badLedger(`${path} is of an unknown format`);
  return network;
}

async function readMeta(database: Database): Promise<ReadonlyMap<string, string>> {
  const { rows } = await database.query('SELECT name, value FROM _meta');
  return new Map(rows.map(([name, value]) => [String(name), String(value)]));
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

/** Stores a declaration unless it is the newest of its pipeline. To be called in a transaction. */
export async function insertDeclaration(
  database: Database,
  { pipeline, id, text }: StoredDeclaration,
  number: number,
  isReplaced = false,
): Promise<void> {
  if (isReplaced) await database.run(`DELETE FROM ${DECLARATIONS} WHERE id = $id`, { id });
  await database.run(
    `INSERT INTO ${DECLARATIONS} SELECT $number::BIGINT, $pipeline, $id, $text
      WHERE $id IS DISTINCT FROM (SELECT arg_max(id, number) FROM ${DECLARATIONS} WHERE pipeline = $pipeline)`,
    { number: BigInt(number), pipeline, id, text },
  );
}

/** The declarations in a one-file warehouse. */
export function declarationsIn(database: Database, schema = 'main'): Declarations {
  return {
    list: async () => {
      const { rows } = await database.query(
        `SELECT pipeline, id, number::INTEGER FROM ${schema}.${DECLARATIONS} ORDER BY number`,
      );
      return rows.map(([pipeline, id, number]) => ({
        pipeline: String(pipeline),
        id: String(id),
        number: Number(number),
      }));
    },
    read: async ({ pipeline, id }) => {
      const { rows } = await database.query(`SELECT declaration FROM ${schema}.${DECLARATIONS} WHERE id = $id`, { id });
      return parsePipeline(String(rows[0]?.[0]), id, `declaration ${id} of ${pipeline}`);
    },
  };
}

/** Cached columns of tables, by the SQL that DuckDB shows for each. Listing all columns takes longer than reading the ledger. */
const columnsOf = new Map<string, readonly SchemaColumn[]>();

/** The columns of each table that the file has. */
export async function readColumns(database: Database): Promise<ReadonlyMap<string, readonly SchemaColumn[]>> {
  const { rows } = await database.query(
    `SELECT table_name, sql FROM duckdb_tables()
      WHERE database_name = current_database() AND schema_name = '_rows' ORDER BY table_name`,
  );
  const statements = new Map(rows.map(([table, sql]) => [String(table), String(sql)]));
  const fresh = [...statements].filter(([, statement]) => !columnsOf.has(statement)).map(([table]) => table);
  const found = await listColumns(database, fresh);
  for (const table of fresh) columnsOf.set(statements.get(table) ?? '', found.get(table) ?? []);
  return new Map([...statements].map(([table, statement]) => [table, columnsOf.get(statement) ?? []]));
}

/** Does not use `duckdb_columns()`, which binds all views first. */
async function listColumns(
  database: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly SchemaColumn[]>> {
  const tables = new Map<string, SchemaColumn[]>(names.map((name) => [name, []]));
  if (names.length === 0) return tables;
  const selects = names.map(
    (name) => `SELECT ${quoteText(name)}, cid, name, type FROM pragma_table_info(${quoteText(rowsOf(name))})`,
  );
  const { rows } = await database.query(`${selects.join(' UNION ALL ')} ORDER BY ALL`);
  for (const [table, , name, type] of rows) {
    if (name !== '_entry') tables.get(String(table))?.push({ name: String(name), type: String(type) });
  }
  return tables;
}

/** Creates the table and view of a mart, or adapts those of an older select. To be called in a transaction. */
export async function declareMart(database: Database, table: TableDef): Promise<void> {
  const stored = await readColumns(database);
  const types = new Map(stored.get(table.name)?.map(({ name, type }) => [name, type]));
  const { columns } = schemaOf(table);
  const rows = rowsOf(table.name);
  if (types.size === 0) await database.run(rowsStatement(table));
  else {
    for (const { name, type } of columns) {
      const storedType = types.get(name);
      const column = quoteName(name);
      if (storedType === undefined) await database.run(`ALTER TABLE ${rows} ADD COLUMN ${column} ${type}`);
      else if (storedType !== type)
        await database.run(`ALTER TABLE ${rows} ALTER ${column} TYPE ${type} USING TRY_CAST(${column} AS ${type})`);
    }
  }
  await database.run([tableView(table), ...commentsOn(table)].join(';\n'));
  if (types.size === 0) await database.run(tonStatements([table], stored.keys()).join(';\n'));
}

function rowsStatement(table: TableDef): string {
  const list = schemaOf(table).columns.map(({ name, type }) => `${quoteName(name)} ${type}`);
  return `CREATE TABLE ${rowsOf(table.name)} (${list.join(', ')}, _entry BIGINT)`;
}

/** Key in `_meta` of a hash of the statements for macros and views. If it is unchanged, they are not run again. */
const DECLARED = 'declared';

/** SQL of all macros, views and comments that a newer tonlake may change. */
function declaredIn(tables: readonly TableDef[], stored?: Iterable<string>): readonly string[] {
  return [...declaredRelations(tables, stored), ...commentsOn(commits)];
}

function declarationHash(tables: readonly TableDef[], stored?: Iterable<string>): string {
  return sha256Of(declaredIn(tables, stored).join('\n'));
}

/**
 * Creates missing tables, views and macros, replaces older versions, and adds columns that were declared later.
 * @param entries in force
 * @throws {StoreError} `needs-migration`, `newer-tonlake`, before any change
 */
export async function declareTables(
  database: Database,
  tables: readonly TableDef[],
  path: string,
  entries: readonly LedgerEntry[],
): Promise<void> {
  const stored = await readColumns(database);
  const replaced = await replacedTables(database, tables, stored, path, entries);
  const rows = tables.flatMap((table) => {
    const columns = stored.get(table.name);
    if (replaced.has(table)) return [`DROP TABLE ${rowsOf(table.name)}`, rowsStatement(table)];
    if (columns === undefined) return [rowsStatement(table)];
    const names = new Set(columns.map(({ name }) => name));
    const missing = schemaOf(table).columns.filter(({ name }) => !names.has(name));
    return missing.map(({ name, type }) => `ALTER TABLE ${rowsOf(table.name)} ADD COLUMN ${quoteName(name)} ${type}`);
  });
  const hash = declarationHash(tables, stored.keys());
  if (rows.length === 0 && (await readMeta(database)).get(DECLARED) === hash && (await hasViews(database, tables)))
    return;
  await database.transaction(async () => {
    await database.run([...rows, ...declaredIn(tables, stored.keys())].join(';\n'));
    await database.run('DELETE FROM _meta WHERE name = $name', { name: DECLARED });
    await database.run('INSERT INTO _meta VALUES ($name, $hash)', { name: DECLARED, hash });
  });
}

/** Tables without rows whose declaration is incompatible. @throws {StoreError} `needs-migration`, `newer-tonlake` for one with rows */
async function replacedTables(
  database: Database,
  tables: readonly TableDef[],
  stored: ReadonlyMap<string, readonly SchemaColumn[]>,
  path: string,
  entries: readonly LedgerEntry[],
): Promise<ReadonlySet<TableDef>> {
  const replaced = new Set<TableDef>();
  for (const table of tables) {
    const own = entries.filter((entry) => entry.tables[table.name] !== undefined);
    try {
      requireWritable(table, stored.get(table.name) ?? [], path, own);
    } catch (error) {
      const { rows } = await database.query(`SELECT 1 FROM ${rowsOf(table.name)} LIMIT 1`);
      if (rows.length > 0) throw error;
      replaced.add(table);
    }
  }
  return replaced;
}

/** True if no view was dropped. */
async function hasViews(database: Database, tables: readonly TableDef[]): Promise<boolean> {
  const { rows } = await database.query('SELECT view_name FROM duckdb_views() WHERE NOT internal');
  const stored = new Set(rows.map(([name]) => String(name)));
  return tables.every(({ name, views }) => [name, ...views.map((view) => view.name)].every((each) => stored.has(each)));
}
