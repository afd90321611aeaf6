import { StoreError } from '../../core/errors.ts';
import { laterThanOwn, newerTonlake, OWN_VERSION } from '../../core/newer-tonlake.ts';
import { oncePer } from '../../core/once-per.ts';
import { sha256Of } from '../../core/sha256.ts';
import { kinds } from '../../declare/kind.ts';
import { narrowTable } from '../../declare/left-out.ts';
import type { LeftOut, TableDef } from '../../declare/table.ts';
import type { LedgerEntry } from '../store.ts';

/** The columns of files, in order, and their identifier. */
export interface Schema {
  readonly id: string;
  readonly columns: readonly SchemaColumn[];
}

export interface SchemaColumn {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
}

/**
 * The columns of a declaration. The identifier is a hash of them, 12 hex digits. Cached, because commits, catalog and readers need the
 * schemas of all tables.
 */
export const schemaOf = oncePer((table: TableDef): Schema => {
  const columns = table.columns.map((column) => ({ name: column.name, type: kinds[column.kind].sql }));
  return { id: schemaId(columns), columns };
});

export function schemaId(columns: readonly SchemaColumn[]): string {
  const text = columns.map(({ name, type }) => `${name}:${type}`).join('\n');
  return sha256Of(text, 12);
}

/**
 * Requires that files with `columns` can be read as `table`: missing columns are null, undeclared ones are left out.
 * @throws {StoreError} `needs-migration` if a column has another type
 */
export function requireReadable(table: TableDef, columns: readonly SchemaColumn[], path: string): void {
  const declared = new Map(schemaOf(table).columns.map(({ name, type }) => [name, type]));
  for (const column of columns) {
    const now = declared.get(column.name);
    if (now !== undefined && now !== column.type)
      throw needsMigration(path, table, column, `which is declared as ${now} now`);
  }
}

/**
 * Like {@link requireReadable}, but also requires that all columns are declared, because a rewrite of the rows would lose the others.
 * @param entries the entries with such rows
 * @throws {StoreError} `needs-migration`, `newer-tonlake` if a column is not declared
 */
export function requireWritable(
  table: TableDef,
  columns: readonly SchemaColumn[],
  path: string,
  entries: readonly LedgerEntry[],
): void {
  requireReadable(table, columns, path);
  const declared = new Set(table.columns.map(({ name }) => name));
  const unknown = columns.find(({ name }) => !declared.has(name));
  if (unknown === undefined) return;
  requireOwnVersion(path, entries, `column ${table.name}.${unknown.name}`);
  throw needsMigration(path, table, unknown, 'which is not declared any more');
}

/** @param entries in force @throws {StoreError} `newer-tonlake` if a newer version added a table, whose rows a rewrite would lose */
export function requireKnownTables(path: string, entries: readonly LedgerEntry[], declared: readonly TableDef[]): void {
  const known = new Set(declared.map(({ name }) => name));
  for (const entry of entries) {
    const unknown = entry.mart === undefined ? Object.keys(entry.tables).find((name) => !known.has(name)) : undefined;
    if (unknown !== undefined) requireOwnVersion(path, [entry], `table ${unknown}`);
  }
}

function requireOwnVersion(path: string, entries: readonly LedgerEntry[], unknown: string): void {
  const version = laterThanOwn(entries.map(({ tonlake }) => tonlake));
  if (version === undefined) return;
  throw newerTonlake(`warehouse ${path}`, version, `it holds ${unknown}, which tonlake ${OWN_VERSION} does not know`);
}

function needsMigration(path: string, table: TableDef, { name, type }: SchemaColumn, change: string): StoreError {
  return new StoreError(`store: warehouse ${path} holds column ${table.name}.${name} as ${type}, ${change}`, {
    code: 'needs-migration',
    hint: 'give the table another name, or choose another --warehouse',
  });
}

/**
 * The declaration of staged rows, without the columns that were left out.
 * @throws {StoreError} if the rows were written by another declaration
 */
export function requireDeclared(
  tables: readonly TableDef[],
  name: string,
  schema: string,
  without: LeftOut | undefined,
): TableDef {
  const declared = tables.find((candidate) => candidate.name === name);
  const table = declared === undefined ? undefined : narrowTable(declared, without);
  if (table !== undefined && schemaOf(table).id === schema) return table;
  const problem = table === undefined ? 'is not declared' : 'is declared otherwise than its staged rows';
  throw new StoreError(`store: table ${name} ${problem}`);
}
