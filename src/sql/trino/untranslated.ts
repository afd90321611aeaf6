import { type UsageError, usage } from '../../core/errors.ts';

/** The error of what has no equal in DuckDB, with what to write there. */
export function untranslated(what: string, inDuckdb: string): UsageError {
  return usage('SQL that can be translated from Trino', what, {
    code: 'untranslated',
    hint: `in DuckDB's SQL, without --dialect: ${inDuckdb}`,
  });
}
