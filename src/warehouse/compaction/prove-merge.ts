import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import { placedRows, selectFiles } from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import { boundedColumns, measureBy } from '../staging/row-evidence.ts';
import type { TableFile } from '../store.ts';

/** A merged file and its sources. */
export interface MergedFile {
  /** Folder of a table or of a day, relative to the warehouse. */
  readonly place: string;
  readonly stagedPath: string;
  readonly sources: readonly TableFile[];
}

export interface ProveOptions {
  readonly query: Query;
  /** A folder that has the sources at their paths. */
  readonly warehouse: string;
  readonly table: TableDef;
  readonly span: Span;
  readonly merged: MergedFile;
}

/**
 * Compares the rows of a merged file with those of its sources. DuckDB reads both.
 *
 * @returns their number, and the bounds of the file
 * @throws {StoreError} `not-the-same`
 */
export async function proveMerge(options: ProveOptions): Promise<Pick<TableFile, 'rows' | 'bounds'>> {
  const { query, warehouse, table, merged } = options;
  const { place, stagedPath, sources } = merged;
  const paths = sources.map(({ path }) => join(warehouse, path));
  const old = `(${selectFiles(table, [{ columns: schemaOf(table).columns, paths }])})`;
  const [fresh] = await measureBy(query, table, {
    relation: placedRows(table, stagedPath, place),
    more: [rowSum(table)],
    bounded: boundedColumns(table),
  });
  if (fresh === undefined || String([fresh.evidence.rows, ...fresh.more]) !== (await sumRows(query, table, old))) {
    throw differs(options);
  }
  return { rows: fresh.evidence.rows, bounds: fresh.bounds };
}

/**
 * Counts the rows of `relation` (any SQL after FROM), and sums hashes of them over every column: relations with equal results hold the same
 * rows, in whatever order and files. DuckDB's own 64-bit hashes take a quarter of the time of `contentHash`, but may differ between versions,
 * so compare results at once and do not store them.
 */
export async function sumRows(query: Query, table: TableDef, relation: string): Promise<string> {
  const { rows } = await query(`SELECT count(*), ${rowSum(table)} FROM ${relation}`);
  return String(rows[0]);
}

function rowSum({ columns }: TableDef): string {
  return `sum(hash(${columns.map(({ name }) => quoteName(name)).join(', ')}))`;
}

/** The rows of a merged file are not those of its sources. */
export function differs({ warehouse, table, span }: Pick<ProveOptions, 'warehouse' | 'table' | 'span'>): StoreError {
  return new StoreError(`store: ${table.name} ${span.from}:${span.to}: merged rows differ from the original rows`, {
    code: 'not-the-same',
    hint: suggest('verify', '', { warehouse }),
  });
}
