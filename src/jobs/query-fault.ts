import { StoreError } from '../core/errors.ts';
import { sqlFault } from '../sql/sql-fault.ts';
import type { PlacedQuery } from './job.ts';

/** DuckDB's message about a query, and the line of the file. */
export function queryFault(
  error: unknown,
  { sql, lines }: PlacedQuery,
): { readonly text: string; readonly place: string } {
  const { text, line = 1 } = sqlFault(error);
  // For a text that ends too early, DuckDB reports a line after its end.
  const at = lines.isFolded ? 1 : Math.min(Math.max(line, 1), sql.split('\n').length);
  return { text: text.replace(/^Failed to extract statements: /, ''), place: `${lines.file}:${lines.line + at - 1}` };
}

/** Adds the line of the file to an error about a query. */
export function withPlace(error: unknown, query: PlacedQuery): unknown {
  if (!(error instanceof StoreError) || error.code !== 'failed') return error;
  const { text, place } = queryFault(error, query);
  return new StoreError(`store: query: ${text} (${place})`, { code: error.code, cause: error });
}
