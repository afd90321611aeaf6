import { quoteName, quoteText } from './canonical-text.ts';
import type { Query, QueryResult } from './query-result.ts';
import type { Selection } from './relation-writer.ts';
import { splitStatements, withoutEnd } from './statements.ts';

/** Name of the temporary table with the rows of a query. */
export const KEPT = '_kept';

/** The rows of a query, in the temporary table {@link KEPT}, in their order by `rowid`. */
export interface KeptRows {
  readonly columns: QueryResult['columns'];
  readonly count: number;
  /** True if the query has more rows than were kept. */
  readonly isCut: boolean;
}

export interface KeepOptions {
  /** Rows to keep at most. */
  readonly limit: number;
  /** Called with each statement before it runs. @throws when it may not run */
  readonly require: (statement: string) => Promise<void>;
}

/** Runs a query, possibly after statements that create what it reads, and keeps its rows. */
export async function keepRows(query: Query, { sql, parameters }: Selection, options: KeepOptions): Promise<KeptRows> {
  const statements = splitStatements(sql);
  for (const statement of statements.slice(0, -1)) {
    await options.require(statement);
    await query(statement);
  }
  const last = withoutEnd(statements.at(-1) ?? '');
  await options.require(last);
  const isTold = /^\s*(explain|set|create)\b/i.test(last);
  const rows = isTold ? await valuesOf(query, last) : last;
  await query(
    `CREATE TEMP TABLE ${KEPT} AS SELECT * FROM (${rows}\n) LIMIT ${options.limit + 1}`,
    isTold ? undefined : parameters,
  );
  const described = await query(`DESCRIBE ${KEPT}`);
  const counted = await query(`SELECT count(*)::INTEGER FROM ${KEPT}`);
  const count = Number(counted.rows[0]?.[0]);
  return {
    columns: described.rows.map(([name, type]) => ({ name: String(name), type: String(type) })),
    count: Math.min(count, options.limit),
    isCut: count > options.limit,
  };
}

/** The few rows of a statement that no select can read. */
async function valuesOf(query: Query, statement: string): Promise<string> {
  const { columns, rows } = await query(statement);
  if (rows.length === 0) return "SELECT 'done' AS result";
  const names = columns.map(({ name }) => quoteName(name));
  const values = rows.map((row) => `(${row.map((value) => quoteText(String(value))).join(', ')})`);
  return `SELECT * FROM (VALUES ${values.join(', ')}) AS told(${names.join(', ')})`;
}
