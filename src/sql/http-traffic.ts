import type { Database } from './database.ts';

/** Number of requests, and bytes of their responses. */
export interface Traffic {
  readonly requests: number;
  /** Of bodies, without headers. */
  readonly bytes: number;
}

/** Logs the HTTP requests of a database in memory; {@link takeTraffic} empties the log. */
export async function logTraffic(database: Database): Promise<void> {
  await database.run(`CALL enable_logging('HTTP', storage = 'memory')`);
}

/** The traffic of a database since the last call. */
export async function takeTraffic(database: Database): Promise<Traffic> {
  // A response to HEAD has the length of a body that is not sent.
  const { rows } = await database.query(
    `SELECT count(*)::DOUBLE, coalesce(sum(TRY_CAST(length.value AS BIGINT)) FILTER (type <> 'HEAD'), 0)::DOUBLE
      FROM (SELECT request.type AS type,
        list_filter(map_entries(response.headers), lambda each : lower(each.key) = 'content-length')[1] AS length
        FROM duckdb_logs_parsed('HTTP'))`,
  );
  await database.run('CALL truncate_duckdb_logs()');
  const [requests = 0, bytes = 0] = (rows[0] ?? []).map(Number);
  return { requests, bytes };
}
