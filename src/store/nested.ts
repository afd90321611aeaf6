import { createRequire } from 'node:module';
import type * as duckdb from '@duckdb/node-api';

/** As `database.ts` loads it, which has done so before there is any value. */
const {
  DuckDBArrayValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBUnionValue,
  DuckDBDecimalValue,
}: typeof duckdb = createRequire(import.meta.url)('@duckdb/node-api');

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
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof DuckDBDecimalValue)
    return { kind: 'number' };
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return { kind: 'items', items: value.items };
  if (value instanceof DuckDBStructValue) return { kind: 'fields', fields: Object.entries(value.entries) };
  if (value instanceof DuckDBMapValue)
    return { kind: 'fields', fields: value.entries.map((entry) => [entry.key, entry.value]) };
  if (value instanceof DuckDBUnionValue) return { kind: 'fields', fields: [[value.tag, value.value]] };
  return { kind: 'other' };
}
