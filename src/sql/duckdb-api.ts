import { createRequire } from 'node:module';
import type * as duckdb from '@duckdb/node-api';

const load = createRequire(import.meta.url);
let loaded: typeof duckdb | undefined;

/**
 * DuckDB, loaded when it is first needed: many commands never do. Not by `import`, for which Node looks through all files of the
 * package for names first; that takes twice as long as the rest.
 */
export function duckdbApi(): typeof duckdb {
  loaded ??= load('@duckdb/node-api') as typeof duckdb;
  return loaded;
}
