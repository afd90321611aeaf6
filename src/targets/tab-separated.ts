import { castOf } from './column-class.ts';
import type { ExportedColumn } from './exported-rows.ts';

/** Characters of texts that would end a value or a line, and how they are written. */
const ESCAPES = [
  ["'\\'", "'\\\\'"],
  ['chr(10)', "'\\n'"],
  ['chr(13)', "'\\r'"],
  ['chr(9)', "'\\t'"],
] as const;

/**
 * SQL for a row as a line for PostgreSQL's COPY and ClickHouse. DuckDB formats the line, so JavaScript handles one string per row.
 *
 * @param special SQL for a value that the target parses differently; undefined for the others
 */
export function tabLine(
  columns: readonly ExportedColumn[],
  special: (column: ExportedColumn, value: string) => string | undefined,
): string {
  const values = columns.map((column) => `coalesce(${tabValue(column, special)}, '\\N')`);
  return `concat_ws(chr(9), ${values.join(', ')}) AS line`;
}

function tabValue(column: ExportedColumn, special: Parameters<typeof tabLine>[1]): string {
  const isText = column.classed.class === 'text' || column.classed.class === 'json';
  const value = isText
    ? ESCAPES.reduce((text, [from, to]) => `replace(${text}, ${from}, ${to})`, castOf(column))
    : castOf(column);
  return special(column, value) ?? (isText ? value : `${value}::VARCHAR`);
}
