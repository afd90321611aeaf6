import { duckdbApi } from './duckdb-api.ts';

/** The parts of a result value. */
export type Parts =
  /** A list or an array. */
  | { readonly kind: 'items'; readonly items: readonly unknown[] }
  /** A struct, a map (keys of any type), or the active member of a union. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [unknown, unknown])[] }
  /** Integers, decimals and floats. */
  | { readonly kind: 'number' }
  | { readonly kind: 'other' };

/** Splits a result value by one level. */
export function partsOf(value: unknown): Parts {
  if (typeof value === 'number' || typeof value === 'bigint') return { kind: 'number' };
  if (typeof value !== 'object') return { kind: 'other' };
  const { DuckDBArrayValue, DuckDBListValue, DuckDBMapValue, DuckDBStructValue, DuckDBUnionValue, DuckDBDecimalValue } =
    duckdbApi();
  if (value instanceof DuckDBDecimalValue) return { kind: 'number' };
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return { kind: 'items', items: value.items };
  if (value instanceof DuckDBStructValue) return { kind: 'fields', fields: Object.entries(value.entries) };
  if (value instanceof DuckDBMapValue)
    return { kind: 'fields', fields: value.entries.map((entry) => [entry.key, entry.value]) };
  if (value instanceof DuckDBUnionValue) return { kind: 'fields', fields: [[value.tag, value.value]] };
  return { kind: 'other' };
}
