import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from './canonical.ts';
import type { Declared } from './ondemand.ts';
import { type SchemaColumn, schemaOf } from './schema.ts';

export function viewOf(name: string, select: string): string {
  return `CREATE OR REPLACE VIEW ${quoteName(name)} AS ${select}`;
}

/** The views that come with tables. */
export function declaredViews(tables: readonly TableDef[]): readonly Declared[] {
  const views = tables.flatMap((table) => table.views);
  return views.map(({ name, sql }) => ({ name, body: sql, statement: () => viewOf(name, sql) }));
}

/** SQL that reads exactly these Parquet files, whatever characters their paths hold. */
export function readFiles(paths: readonly string[], options = 'hive_partitioning = false'): string {
  const list = paths.map((path) => quoteText(path.replace(/[[*?]/g, '[$&]'))).join(', ');
  return `read_parquet([${list}], ${options})`;
}

/** Files of a table that were written with the same columns; absolute paths. */
export interface FileGroup {
  readonly columns: readonly SchemaColumn[];
  readonly paths: readonly string[];
}

/** A select of the declared columns over exactly these files; columns that the files lack are null. */
export function selectFiles(table: TableDef, groups: readonly FileGroup[]): string {
  const declared = schemaOf(table).columns;
  const filled = groups.filter(({ paths }) => paths.length > 0);
  if (filled.length === 0) {
    return `SELECT ${declared.map(({ name, type }) => `NULL::${type} AS ${quoteName(name)}`).join(', ')} WHERE false`;
  }
  return filled
    .map(({ columns, paths }) => {
      const present = new Map(columns.map(({ name, type }) => [name, type]));
      const selected = declared.map(({ name, type }) => {
        const held = present.get(name);
        if (held === type) return quoteName(name);
        // Another type is that of a mart's older select, whose rows are about to be built again.
        return `${held === undefined ? `NULL::${type}` : `TRY_CAST(${quoteName(name)} AS ${type})`} AS ${quoteName(name)}`;
      });
      return `SELECT ${selected.join(', ')} FROM ${readFiles(paths, partitioning(table, paths))}`;
    })
    .join(' UNION ALL ');
}

/** SQL of the view of a table without rows. */
export function emptyView(table: TableDef): string {
  return viewOf(table.name, selectFiles(table, []));
}

/**
 * The folder's date lets a reader skip a file without opening it. A warehouse whose own path holds `name=value` would gain
 * columns by that, so there the dates come from the files alone.
 */
function partitioning(table: TableDef, paths: readonly string[]): string {
  const isSafe = paths.every((path) => path.split('=').length === 2 && path.includes('/block_date='));
  if (table.time === undefined || !isSafe) return 'hive_partitioning = false';
  return "hive_partitioning = true, hive_types = {'block_date': DATE}";
}
