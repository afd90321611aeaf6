import { StoreError } from '../../core/errors.ts';
import { sha256Of } from '../../core/sha256.ts';
import { kinds } from '../../declare/kind.ts';
import { narrowTable } from '../../declare/left-out.ts';
import type { LeftOut, TableDef } from '../../declare/table.ts';

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

/** By declaration: a commit, a catalog and a reader each ask for the schemas of all tables. */
const schemas = new WeakMap<TableDef, Schema>();

/** The columns of a declaration. The identifier is a hash of them, 12 hex digits. */
export function schemaOf(table: TableDef): Schema {
  const known = schemas.get(table);
  if (known !== undefined) return known;
  const columns = table.columns.map((column) => ({ name: column.name, type: kinds[column.kind].sql }));
  const schema = { id: schemaId(columns), columns };
  schemas.set(table, schema);
  return schema;
}

export function schemaId(columns: readonly SchemaColumn[]): string {
  const text = columns.map(({ name, type }) => `${name}:${type}`).join('\n');
  return sha256Of(text, 12);
}

/**
 * Files with `columns` can be read as `table` even if columns are missing.
 * @throws {StoreError} `needs-migration` if a column has another type, or is no longer declared
 */
export function requireReadable(table: TableDef, columns: readonly SchemaColumn[], path: string): void {
  const declared = new Map(schemaOf(table).columns.map(({ name, type }) => [name, type]));
  for (const { name, type } of columns) {
    const now = declared.get(name);
    if (now === type) continue;
    const change = now === undefined ? 'which is not declared any more' : `which is declared as ${now} now`;
    throw new StoreError(`store: warehouse ${path} holds column ${table.name}.${name} as ${type}, ${change}`, {
      code: 'needs-migration',
      hint: 'give the table another name, or choose another --warehouse',
    });
  }
}

/**
 * The declaration of staged rows, without the columns that were left out.
 * @throws {StoreError} if the rows were written by another one
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
  throw new StoreError(`store: table ${name} ${problem}`, { code: 'bad-declaration' });
}
