/** Bounds of a row group of a table's file: DuckDB holds a whole one, before it is compressed, in memory. */
const limit = { rows: 122_880, bytes: 32 * 2 ** 20 } as const;
/** Rows of DuckDB's vectors. */
const VECTOR_ROWS = 2048;

/** Options of COPY for rows of that size: level 1 of zstd gives the same size as the default at half of the time. */
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

/** Folder of a date; none for a table without time. */
export function partitionOf(date: string | null | undefined): readonly string[] {
  return date === undefined ? [] : [`block_date=${date ?? '__HIVE_DEFAULT_PARTITION__'}`];
}
