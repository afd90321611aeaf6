import { StoreError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The declared column of that name. */
export function columnOf(table: TableDef, name: string): ColumnDef {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column !== undefined) return column;
  throw new StoreError(`store: table ${table.name} declares no column ${name}`);
}

/**
 * SQL for the first and the last 8 bytes of the md5 of a text, each read as a little-endian number: HUGEINT, so that sums do not
 * overflow. DuckDB's `md5_number_upper` and `md5_number_lower` give the same, but take twice as long.
 */
export function md5Halves(text: string): { readonly first: string; readonly last: string } {
  const number = `md5_number(${text})`;
  return { first: `(${number} & 18446744073709551615::UHUGEINT)::HUGEINT`, last: `(${number} >> 64)::HUGEINT` };
}

/**
 * SQL for the canonical text of a row, the same in every store. Each value ends with `|`; an empty value is null. Numbers and dates are
 * decimal integers, booleans `t` or `f`; texts are their length in bytes, `:` and the text; bytes are the same in upper-case hex.
 */
export function canonicalText(columns: readonly ColumnDef[]): string {
  return `concat(${columns.map((column) => `${canonicalValue(column)}, '|'`).join(', ')})`;
}

function canonicalValue(column: ColumnDef): string {
  const name = quoteName(column.name);
  const { physical, sql } = kinds[column.kind];
  switch (physical) {
    case 'utf8':
      return withLength(`strlen(${name})`, name, column.nullable);
    case 'binary':
      return withLength(`octet_length(${name})`, `hex(${name})`, column.nullable);
    case 'bool':
      return `CASE ${name} WHEN true THEN 't' WHEN false THEN 'f' END`;
    case 'int32':
      return sql === 'DATE' ? `(${name} - DATE '1970-01-01')::VARCHAR` : `${name}::VARCHAR`;
    case 'int64':
      return sql === 'TIMESTAMP' ? `epoch_us(${name})::VARCHAR` : `${name}::VARCHAR`;
    case 'decimal128':
      return `${name}::VARCHAR`;
  }
}

/**
 * Arguments of `concat`, which skips nulls. A nullable column is one argument, so that its colon is skipped too; others are joined only
 * once.
 */
function withLength(length: string, text: string, isNullable: boolean): string {
  return isNullable ? `${length} || ':' || ${text}` : `${length}, ':', ${text}`;
}
