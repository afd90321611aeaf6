import { type UsageError, usage } from '../../core/errors.ts';

/** The error for SQL without a translation, with a replacement in DuckDB. */
export function untranslated(what: string, inDuckdb: string): UsageError {
  return usage('SQL that can be translated from Trino', what, {
    code: 'untranslated',
    hint: `in DuckDB's SQL, without --dialect: ${inDuckdb}`,
  });
}
