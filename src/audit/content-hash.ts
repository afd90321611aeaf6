import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';
import { canonicalText, md5Halves, quoteName } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';

/** A hash of rows, independent of their order and storage. */
export interface ContentHash {
  readonly rows: number;
  /** Sum modulo 2^128 of the md5 of each row's canonical text, each read as a little-endian number; 32 hex digits. */
  readonly hash: string;
}

/**
 * Columns in a content hash: all declared ones in their order, including `block_time` and `block_date`, which readers filter by.
 * Names with a leading `_` and decorations, which can change between reads, are left out.
 */
export function hashedColumns(table: TableDef): readonly ColumnDef[] {
  return table.columns.filter(({ name, decoration }) => !name.startsWith('_') && !decoration);
}

/** Hashes the rows of a table. @param where SQL condition for a part of the rows. Default: all. */
export async function contentHash(query: Query, table: TableDef, where = 'true'): Promise<ContentHash> {
  const text = canonicalText(hashedColumns(table));
  const { first, last } = md5Halves('t');
  const { rows } = await query(
    `SELECT count(*)::VARCHAR, coalesce(sum(${first}), 0)::VARCHAR, coalesce(sum(${last}), 0)::VARCHAR
      FROM (SELECT ${text} AS t FROM ${quoteName(table.name)} WHERE ${where})`,
  );
  const [count, low, high] = (rows[0] ?? []).map((value) => BigInt(String(value)));
  const sum = BigInt.asUintN(128, (low ?? 0n) + ((high ?? 0n) << 64n));
  return { rows: Number(count ?? 0n), hash: sum.toString(16).padStart(32, '0') };
}
