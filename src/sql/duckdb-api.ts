import { createRequire } from 'node:module';
import type * as duckdb from '@duckdb/node-api';

const load = createRequire(import.meta.url);
let loaded: typeof duckdb | undefined;

/**
 * DuckDB, loaded when it is first needed; many commands never need it. Not with `import`, for which Node first scans the package for
 * export names; that takes twice as long as the rest.
 */
export function duckdbApi(): typeof duckdb {
  loaded ??= load('@duckdb/node-api') as typeof duckdb;
  return loaded;
}
