import { UsageError } from '../../core/errors.ts';

/** The error of what has no equal in DuckDB, with what to write there. */
export function untranslated(what: string, inDuckdb: string): UsageError {
  return new UsageError(`usage: expected SQL that can be translated from Trino, got ${what}`, {
    code: 'untranslated',
    hint: `in DuckDB's SQL, without --dialect: ${inDuckdb}`,
  });
}
