import type { TableDef } from '../declare/table.ts';

/** The column that the files of a table with time are partitioned by. */
export const DATE_COLUMN = 'block_date';

/**
 * Names of the columns inside a table's files. As in every Hive layout, the partition column is only in the path: pandas and pyarrow refuse
 * a folder whose files contain it as well.
 */
export function storedColumns({ columns, time }: TableDef): readonly string[] {
  return columns.map(({ name }) => name).filter((name) => time === undefined || name !== DATE_COLUMN);
}

/** Limits of a row group: DuckDB keeps a complete one in memory before it compresses it. */
const limit = { rows: 122_880, bytes: 32 * 2 ** 20 } as const;
/** Rows of DuckDB's vectors. */
const VECTOR_ROWS = 2048;

/** COPY options for rows of this uncompressed size. Level 1 of zstd gives the same size as the default in half the time. */
export function encodingOf(plainBytes: number, rows: number): string {
  const fitting = Math.floor((limit.bytes * rows) / Math.max(plainBytes, 1) / VECTOR_ROWS) * VECTOR_ROWS;
  const groupRows = Math.min(limit.rows, Math.max(VECTOR_ROWS, fitting));
  return `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE ${groupRows}`;
}

/** Path of a table's file in a warehouse, with forward slashes. `date` is undefined for a table without time. */
export function pathOfFile(
  table: string,
  date: string | null | undefined,
  span: { readonly from: number; readonly to: number },
  id: string,
): string {
  return ['tables', table, ...partitionOf(date), `${span.from}-${span.to}-${id}.parquet`].join('/');
}

const FOLDER = new RegExp(`/${DATE_COLUMN}=(\\d{4}-\\d{2}-\\d{2})/`);

/** UTC day of the rows of a file, from its path. */
export function dateIn(path: string): string | undefined {
  return FOLDER.exec(path)?.[1];
}

/** As {@link dateIn}, but null for a file of rows whose time is null. */
export function dateOf(path: string): string | null | undefined {
  const [unknown = ''] = partitionOf(null);
  return path.includes(`/${unknown}/`) ? null : dateIn(path);
}

/** Folder of a date; none for a table without time. */
export function partitionOf(date: string | null | undefined): readonly string[] {
  return date === undefined ? [] : [`${DATE_COLUMN}=${date ?? '__HIVE_DEFAULT_PARTITION__'}`];
}
