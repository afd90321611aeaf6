import { parse } from 'node:path';
import type * as duckdb from '@duckdb/node-api';
import { StoreError } from '../core/errors.ts';
import { quoteText } from './canonical-text.ts';
import { duckdbApi } from './duckdb-api.ts';
import { afterComments } from './pieces.ts';
import { splitStatements } from './statements.ts';

/** Limits of a database that runs untrusted SQL. */
export interface Confinement {
  /** Memory limit, in megabytes. */
  readonly memoryMb: number;
  /** Limit of temporary files, in megabytes. */
  readonly temporaryMb: number;
  /** Folder, besides the warehouse, that may be read and written. */
  readonly scratch: string;
  /** True if SQL may read any file of this machine. Default false. */
  readonly allowFiles?: boolean | undefined;
}

/**
 * Functions that `enable_external_access = false` and `lock_configuration` do not prevent: they run SQL from a text, change the database or
 * its log, or read memory by address. A log outside of the allowed folders crashes the process.
 */
export const REFUSED_FUNCTIONS: readonly string[] = [
  'add_parquet_key',
  'arrow_scan',
  'arrow_scan_dumb',
  'check_peg_parser',
  'checkpoint',
  'disable_logging',
  'disable_peg_parser',
  'disable_profiling',
  'enable_logging',
  'enable_peg_parser',
  'enable_profiling',
  'force_checkpoint',
  'import_database',
  'json_execute_serialized_sql',
  'query',
  'read_duckdb',
  'seq_scan',
  'truncate_duckdb_logs',
];

/** A function name, and what may come before its parenthesis. DuckDB treats invisible characters as spaces. */
const REFUSED = new RegExp(
  String.raw`(?<!\w)(${REFUSED_FUNCTIONS.join('|')})"?[\s\u180e\u200b-\u200f\u2060]*(\(|\/\*|--)`,
  'i',
);

/** Statements that confine a database to some folders. No later statement can undo them. */
export function confiningStatements(folders: readonly string[], limits: Confinement): readonly string[] {
  // The root folder allows all local files, but no network.
  const more = limits.allowFiles === true ? [limits.scratch, parse(process.cwd()).root] : [limits.scratch];
  const all = [...folders, ...more].map((folder) => quoteText(folder.replace(/\/*$/, '/')));
  return [
    // The log has the number of bytes read.
    `CALL enable_logging('FileSystem')`,
    `SET memory_limit = '${limits.memoryMb}MB'`,
    `SET max_temp_directory_size = '${limits.temporaryMb}MB'`,
    `SET allowed_directories = [${all.join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ];
}

/** Prefixes of statements that only select, or only set or create something for their session. */
const SELECTS = /^(\(|(select|with|from|values|table|describe|desc|show|summarize|pivot|unpivot)\b)/i;
const EXPLAINS = /^explain\b(\s+analyze\b)?(\s*\([^)]*\))?\s*/i;
const PREPARES =
  /^(set\s+variable|create\s+(or\s+replace\s+)?temp(orary)?\s+(table|view|macro|function|sequence|type))\s/i;

/**
 * Requires statements that only select, or set or create something for their session. Checked before DuckDB sees them, because preparing an
 * EXPORT already creates its folder.
 *
 * @throws {StoreError} `not-a-query`
 */
export function requireQueries(sql: string): void {
  const [, name] = REFUSED.exec(sql) ?? [];
  if (name !== undefined) throw notAQuery(`a query without ${name.toLowerCase()}()`);
  for (const statement of splitStatements(sql)) {
    const text = afterComments(statement);
    const isQuery = SELECTS.test(text) || PREPARES.test(text);
    if (!isQuery && !(EXPLAINS.test(text) && SELECTS.test(explainedBy(text)))) throw notAQuery('a query');
  }
}

/**
 * As {@link requireQueries}, for one statement, by DuckDB's type of it.
 *
 * @throws {StoreError} `not-a-query`
 */
export async function requireQuery(connection: duckdb.DuckDBConnection, statement: string): Promise<void> {
  requireQueries(statement);
  const { SELECT, EXPLAIN, SET, CREATE } = duckdbApi().StatementType;
  const type = await typeOf(connection, statement);
  if (![SELECT, EXPLAIN, SET, CREATE].includes(type)) throw notAQuery('a query');
  // EXPLAIN ANALYZE runs what it explains.
  if (type === EXPLAIN && (await typeOf(connection, explainedBy(afterComments(statement)))) !== SELECT)
    throw notAQuery('EXPLAIN of a query');
}

function explainedBy(text: string): string {
  return afterComments(text.replace(EXPLAINS, ''));
}

async function typeOf(connection: duckdb.DuckDBConnection, statement: string): Promise<duckdb.StatementType> {
  const statements = await connection.extractStatements(statement);
  if (statements.count !== 1) throw notAQuery('one statement');
  return (await statements.prepare(0)).statementType;
}

function notAQuery(expected: string): StoreError {
  return new StoreError(
    `store: query: expected ${expected}, got something that may change or reach more than the warehouse`,
    {
      code: 'not-a-query',
      hint: 'use SELECT; CREATE TEMP and SET VARIABLE may come before it. The sql command has no such limits',
    },
  );
}
