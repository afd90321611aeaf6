import { quoteName } from '../sql/canonical-text.ts';
import { portableType } from '../sql/relation-writer.ts';

/** Classes of values, from which typed targets derive column types. */
export const COLUMN_CLASSES = [
  'boolean',
  'int32',
  'int64',
  'decimal',
  'double',
  'text',
  'json',
  'bytes',
  'date',
  'timestamp',
] as const;
export type ColumnClass = (typeof COLUMN_CLASSES)[number];

/** The class of a column, and the type to which DuckDB casts it before it is read. */
export interface ClassedType {
  readonly class: ColumnClass;
  readonly sql: string;
  /** Digits, and those after the point; for decimals. */
  readonly precision?: number;
  readonly scale?: number;
}

/** The column types of a target. */
export type TargetTypes = Readonly<Record<Exclude<ColumnClass, 'decimal'>, string>> & {
  readonly decimal: (precision: number, scale: number) => string;
};

/** The column type of a class in a target. */
export function typeIn(types: TargetTypes, { class: kind, precision = 38, scale = 0 }: ClassedType): string {
  return kind === 'decimal' ? types.decimal(precision, scale) : types[kind];
}

const PLAIN: Readonly<Record<string, ClassedType>> = {
  BOOLEAN: { class: 'boolean', sql: 'BOOLEAN' },
  TINYINT: { class: 'int32', sql: 'INTEGER' },
  SMALLINT: { class: 'int32', sql: 'INTEGER' },
  INTEGER: { class: 'int32', sql: 'INTEGER' },
  UTINYINT: { class: 'int32', sql: 'INTEGER' },
  USMALLINT: { class: 'int32', sql: 'INTEGER' },
  UINTEGER: { class: 'int64', sql: 'BIGINT' },
  BIGINT: { class: 'int64', sql: 'BIGINT' },
  UBIGINT: { class: 'decimal', sql: 'DECIMAL(20,0)', precision: 20, scale: 0 },
  FLOAT: { class: 'double', sql: 'DOUBLE' },
  DOUBLE: { class: 'double', sql: 'DOUBLE' },
  VARCHAR: { class: 'text', sql: 'VARCHAR' },
  BLOB: { class: 'bytes', sql: 'BLOB' },
  DATE: { class: 'date', sql: 'DATE' },
  TIMESTAMP: { class: 'timestamp', sql: 'TIMESTAMP' },
  TIMESTAMP_S: { class: 'timestamp', sql: 'TIMESTAMP' },
  TIMESTAMP_MS: { class: 'timestamp', sql: 'TIMESTAMP' },
};

/** The class of a DuckDB type. Whatever has none becomes text; lists, structs and maps become JSON. */
export function classOf(type: string): ClassedType {
  const plain = PLAIN[type];
  if (plain !== undefined) return plain;
  if (/\[\d*\]$|^(STRUCT|MAP|UNION|JSON)\b/.test(type)) return { class: 'json', sql: 'JSON' };
  const portable = type === 'TIMESTAMP_NS' ? 'VARCHAR' : portableType(type);
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(portable) ?? [];
  if (precision === undefined) return { class: 'text', sql: 'VARCHAR' };
  return { class: 'decimal', sql: portable, precision: Number(precision), scale: Number(scale) };
}

/** Like `castOf`, but a date is its days since 1970, and a time its microseconds. {@link isInfinite} recognizes infinite ones. */
export function countedValue(column: { readonly name: string; readonly type: string }): string {
  const value = castOf(column);
  const { class: kind } = classOf(column.type);
  if (kind === 'date') return `(${value} - DATE '1970-01-01')::INTEGER`;
  return kind === 'timestamp' ? `CASE WHEN isinf(${value}) THEN ${INFINITE_TIME} ELSE epoch_us(${value}) END` : value;
}

/** DuckDB counts an infinite date as the greatest number or its negative, and an infinite time as null. */
const INFINITE_TIME = 2n ** 63n - 1n;
const INFINITE_DATE = 2 ** 31 - 1;

/** True if a {@link countedValue} is an infinite date or time. */
export function isInfinite({ class: kind }: ClassedType, value: unknown): boolean {
  if (kind === 'timestamp') return value === INFINITE_TIME;
  return kind === 'date' && Math.abs(Number(value)) === INFINITE_DATE;
}

/** SQL for a column as its class is read. A number that its class cannot hold is an error of the query. */
export function castOf({ name, type }: { readonly name: string; readonly type: string }): string {
  const column = quoteName(name);
  const { class: kind, sql } = classOf(type);
  if (kind === 'json') return `to_json(${column})::VARCHAR`;
  return sql === type ? column : `${column}::${sql}`;
}
