import { duckdbApi } from './duckdb-api.ts';

/** What a value of a result is made of. */
export type Parts =
  /** A list or an array. */
  | { readonly kind: 'items'; readonly items: readonly unknown[] }
  /** A struct, a map, or the one member of a union that is there; the keys of a map may be of any type. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [unknown, unknown])[] }
  /** Integers, decimals and floats. */
  | { readonly kind: 'number' }
  | { readonly kind: 'other' };

/** Takes a value of a result apart, by one level. */
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
