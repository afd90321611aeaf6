import type { Query } from './query-result.ts';

/** The first value of a query as a number; undefined for no rows or NULL. */
export async function firstNumber(
  query: Query,
  sql: string,
  parameters?: Readonly<Record<string, unknown>>,
): Promise<number | undefined> {
  const { rows } = await query(sql, parameters);
  const value = rows[0]?.[0];
  return value === null || value === undefined ? undefined : Number(value);
}
