import type { Query } from '../query-result.ts';
import { splitStatements } from '../statements.ts';
import { rewriteTokens, untranslated } from './rewrite.ts';
import { rewriteByTypes } from './typed.ts';

/** SQL that a query may be written in. */
export type Dialect = 'duckdb' | 'trino';

/**
 * A query in Trino's SQL as one in DuckDB's with the same rows.
 * @throws {UsageError} for SQL without a translation; the hint has DuckDB's form
 */
export async function translateTrino(query: Query, sql: string): Promise<string> {
  const statements = splitStatements(sql);
  const [only = ''] = statements;
  if (statements.length !== 1) {
    throw untranslated(`${statements.length} statements`, 'SET, CREATE TEMP, then the query');
  }
  return rewriteByTypes(query, rewriteTokens(only));
}
