import { quoteName, quoteText } from './canonical-text.ts';
import type { Query, QueryResult } from './query-result.ts';
import type { Selection } from './relation-writer.ts';
import { splitStatements, withoutEnd } from './statements.ts';

/** Temporary table with the rows of a query. */
export const RESULT_TABLE = '_result';

/** Describes the rows in {@link RESULT_TABLE}, which `rowid` orders. */
export interface ResultTable {
  readonly columns: QueryResult['columns'];
  readonly count: number;
  /** True if the query has more rows than the limit. */
  readonly isCut: boolean;
}

export interface ResultOptions {
  /** Maximum number of rows. */
  readonly limit: number;
  /** Called with each statement before it runs; throws to refuse it. */
  readonly require: (statement: string) => Promise<void>;
}

/** Runs a query, possibly after statements that it depends on, and stores its rows. */
export async function storeResult(
  query: Query,
  { sql, parameters }: Selection,
  options: ResultOptions,
): Promise<ResultTable> {
  const statements = splitStatements(sql);
  for (const statement of statements.slice(0, -1)) {
    await options.require(statement);
    await query(statement);
  }
  const last = withoutEnd(statements.at(-1) ?? '');
  await options.require(last);
  const isStatement = /^\s*(explain|set|create)\b/i.test(last);
  const rows = isStatement ? await valuesOf(query, last) : last;
  await query(
    `CREATE TEMP TABLE ${RESULT_TABLE} AS SELECT * FROM (${rows}\n) LIMIT ${options.limit + 1}`,
    isStatement ? undefined : parameters,
  );
  const described = await query(`DESCRIBE ${RESULT_TABLE}`);
  const counted = await query(`SELECT count(*)::INTEGER FROM ${RESULT_TABLE}`);
  const count = Number(counted.rows[0]?.[0]);
  return {
    columns: described.rows.map(([name, type]) => ({ name: String(name), type: String(type) })),
    count: Math.min(count, options.limit),
    isCut: count > options.limit,
  };
}

/** The rows of a statement that cannot be a subquery, as a select. */
async function valuesOf(query: Query, statement: string): Promise<string> {
  const { columns, rows } = await query(statement);
  if (rows.length === 0) return "SELECT 'done' AS result";
  const names = columns.map(({ name }) => quoteName(name));
  const values = rows.map((row) => `(${row.map((value) => quoteText(String(value))).join(', ')})`);
  return `SELECT * FROM (VALUES ${values.join(', ')}) AS result(${names.join(', ')})`;
}
