import { join } from 'node:path';
import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Declared } from '../../sql/lazy-declarations.ts';
import { DATE_COLUMN, storedColumns } from '../file-layout.ts';
import type { StagedSpan } from '../store.ts';
import { type SchemaColumn, schemaOf } from './table-schema.ts';

/** @param name quoted */
export function viewOf(name: string, select: string): string {
  return `CREATE OR REPLACE VIEW ${name} AS ${select}`;
}

/** The views that tables declare. */
export function declaredViews(tables: readonly TableDef[]): readonly Declared<string>[] {
  const views = tables.flatMap((table) => table.views);
  return views.map(({ name, sql }) => ({ name, body: sql, statement: () => viewOf(quoteName(name), sql) }));
}

const PLAIN = 'hive_partitioning = false';

/** SQL that reads exactly these Parquet files, whatever characters their paths contain. */
export function readFiles(paths: readonly string[], options = PLAIN): string {
  const list = paths.map((path) => quoteText(path.replace(/[[*?]/g, '[$&]'))).join(', ');
  return `read_parquet([${list}], ${options})`;
}

/** File name of the catalog, in the folder of the warehouse. */
export const CATALOG = 'warehouse.duckdb';

/**
 * Returns {@link readFiles} for the views of a catalog. If the catalog is the main database of its session, they read the files beside it,
 * so that a copy reads its own files. If it is attached, they read those at the path where it was written. A view can find its own file only
 * by the default of `temp_directory`, which is the path of the main database followed by `.tmp`.
 */
export function readBeside(warehouse: string): typeof readFiles {
  const place = "current_setting('temp_directory')";
  const pattern = quoteText(`^(.*[/\\\\])?${CATALOG.replace('.', '\\.')}\\.tmp$`);
  const beside = `left(${place}, length(${place}) - ${`${CATALOG}.tmp`.length})`;
  const base = `CASE WHEN regexp_matches(${place}, ${pattern}) THEN ${beside} ELSE ${quoteText(join(warehouse, '/'))} END`;
  const escaped = `regexp_replace(${base}, '([[*?])', '[\\1]', 'g')`;
  return (paths, options = PLAIN) => {
    // No path contains a question mark: ours do not, and DuckDB would not open it.
    const names = paths.map((path) => `@${path.slice(warehouse.length + 1)}`).join('?');
    return `read_parquet(string_split(replace(${quoteText(names)}, '@', ${escaped}), '?'), ${options})`;
  };
}

/** Files of a table that were written with the same columns; absolute paths. */
export interface FileGroup {
  readonly columns: readonly SchemaColumn[];
  readonly paths: readonly string[];
  /** SQL that reads the columns from these files, for FROM; cannot be combined with `isNamed`. Default: {@link readFiles}. */
  readonly scan?: string | undefined;
}

/**
 * A select of the declared columns from exactly these files; missing columns are null. `isNamed` adds `filename`, the path of a row's file,
 * and `file_row_number`, its position there, from 0.
 */
export function selectFiles(table: TableDef, groups: readonly FileGroup[], read = readFiles, isNamed = false): string {
  const declared = schemaOf(table).columns;
  const filled = groups.filter(({ paths }) => paths.length > 0);
  if (filled.length === 0) {
    const none = isNamed ? [...declared, ...PLACE] : declared;
    return `SELECT ${none.map(({ name, type }) => `NULL::${type} AS ${quoteName(name)}`).join(', ')} WHERE false`;
  }
  return filled
    .map(({ columns, paths, scan }) => {
      const stored = new Map(columns.map(({ name, type }) => [name, type]));
      const isDated = scan === undefined && table.time !== undefined && stored.has(DATE_COLUMN);
      const selected = declared.map(({ name, type }) => {
        const storedType = stored.get(name);
        if (isDated && name === DATE_COLUMN) return `${FOLDER_DATE} AS ${quoteName(name)}`;
        if (storedType === type) return quoteName(name);
        // Only marts have other types, from older selects; their rows will be built again.
        return `${storedType === undefined ? `NULL::${type}` : `TRY_CAST(${quoteName(name)} AS ${type})`} AS ${quoteName(name)}`;
      });
      const named = isNamed ? [...selected, ...PLACE.map(({ name }) => name)] : selected;
      const path = isDated ? WITH_PATH : undefined;
      return `SELECT ${named.join(', ')} FROM ${scan ?? read(paths, isNamed ? WITH_PLACE : path)}`;
    })
    .join(' UNION ALL ');
}

/**
 * SQL for the `block_date` of rows, from the path of their file, so DuckDB can skip files. `hive_partitioning` is not used: if the path of
 * the warehouse itself contains `name=value`, it would add columns or change values.
 */
const WITH_PATH = 'filename = true, hive_partitioning = false';
const WITH_PLACE = `${WITH_PATH}, file_row_number = true`;
const PLACE: readonly SchemaColumn[] = [
  { name: 'filename', type: 'VARCHAR' },
  { name: 'file_row_number', type: 'BIGINT' },
];
const FOLDER_DATE = `TRY_CAST(regexp_extract(filename, '^.*/${DATE_COLUMN}=([0-9-]+)/', 1) AS DATE)`;

/** All declared columns of rows in staged files, which are not in the folder of a day yet; for FROM. */
export function stagedRows(table: TableDef, paths: readonly string[]): string {
  const date = table.columns.find(({ name }) => name === DATE_COLUMN);
  // The rows of a mart have the date itself.
  if (date?.origin.kind !== 'time') return readFiles(paths);
  const names = storedColumns(table).map(quoteName).join(', ');
  return `(SELECT ${names}, CAST(block_time AS DATE) AS ${quoteName(DATE_COLUMN)} FROM ${readFiles(paths)})`;
}

/** SQL for the declared columns of a table's staged rows. */
export function selectStaged(table: TableDef, staged: StagedSpan): string {
  const paths = (staged.tables[table.name]?.files ?? []).map(({ stagedPath }) => stagedPath);
  if (paths.length === 0) return selectFiles(table, []);
  return `SELECT ${table.columns.map(({ name }) => quoteName(name)).join(', ')} FROM ${stagedRows(table, paths)}`;
}

/** All declared columns of rows in a file that will be moved to this folder; for FROM. */
export function placedRows(table: TableDef, path: string, folder: string): string {
  if (table.time === undefined) return readFiles([path]);
  const [, date] = folder.split(`${DATE_COLUMN}=`);
  const names = storedColumns(table).map(quoteName).join(', ');
  const value = `TRY_CAST(${quoteText(date ?? '')} AS DATE)`;
  return `(SELECT ${names}, ${value} AS ${quoteName(DATE_COLUMN)} FROM ${readFiles([path])})`;
}
