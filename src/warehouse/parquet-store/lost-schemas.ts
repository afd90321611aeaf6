import { rethrowAccessError } from '../../core/errors.ts';
import { narrowTable } from '../../declare/left-out.ts';
import type { TableDef } from '../../declare/table.ts';
import type { Query } from '../../sql/query-result.ts';
import { DATE_COLUMN } from '../file-layout.ts';
import { readFiles } from '../relations/table-relation.ts';
import { type Schema, type SchemaColumn, schemaId, schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import type { PathOf } from './entry-files.ts';

/** Maximum number of files whose columns are read for one schema. The first ones may be damaged. */
const MAX_FILES = 10;

/** Where the columns of rows can be found. */
interface SchemaSources {
  readonly entries: readonly LedgerEntry[];
  readonly tables: readonly TableDef[];
  readonly pathOf: PathOf;
  readonly query: Query;
}

/** Finds lost schemas in declarations and files. Their identifiers, which are hashes of the columns, prove them. */
export async function findSchemas(ids: readonly string[], sources: SchemaSources): Promise<readonly Schema[]> {
  const found: Schema[] = [];
  for (const id of ids) {
    for await (const columns of columnsOf(id, sources)) {
      if (schemaId(columns) !== id) continue;
      found.push({ id, columns });
      break;
    }
  }
  return found;
}

/** Candidates for the columns of a schema. */
async function* columnsOf(id: string, { entries, tables, pathOf, query }: SchemaSources) {
  const parts = entries.flatMap(({ tables: own, without }) =>
    Object.entries(own).flatMap(([name, part]) => (part.schema === id ? [{ name, without, ...part }] : [])),
  );
  for (const { name, without } of parts) {
    const declared = tables.find((table) => table.name === name);
    if (declared !== undefined) yield schemaOf(narrowTable(declared, without)).columns;
  }
  const files = parts.flatMap((part) => part.files).slice(0, MAX_FILES);
  for (const { path } of files) {
    const stored = await storedIn(pathOf(path), query);
    yield stored;
    // The partition column is not in the files.
    const date: SchemaColumn = { name: DATE_COLUMN, type: 'DATE' };
    for (let at = 0; at <= stored.length; at++) yield stored.toSpliced(at, 0, date);
  }
}

/** The columns of a file; none if it cannot be read. */
async function storedIn(path: string, query: Query): Promise<readonly SchemaColumn[]> {
  try {
    const { rows } = await query(`SELECT column_name, column_type FROM (DESCRIBE FROM ${readFiles([path])})`);
    return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
  } catch (error) {
    rethrowAccessError(error);
    return [];
  }
}
