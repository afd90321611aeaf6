/** Rows of a query; values as DuckDB's JavaScript types (bigint for BIGINT, DuckDBDecimalValue ...). */
export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Runs one statement and reads its rows. Parameters are `$name` in the statement. */
export type Query = (sql: string, parameters?: Readonly<Record<string, unknown>>) => Promise<QueryResult>;

/** The rows of a statement, as they are produced. */
export interface RowStream {
  readonly columns: QueryResult['columns'];
  /** Rows in chunks of about two thousand. */
  chunks(): AsyncIterable<QueryResult['rows']>;
  /** Counts the unread rows without creating their values. */
  countRest(): Promise<number>;
}

/** Runs one statement and hands its rows over as they are produced. */
export type Stream = <T>(
  sql: string,
  parameters: Readonly<Record<string, unknown>> | undefined,
  use: (rows: RowStream) => Promise<T>,
) => Promise<T>;

/** All rows of a stream. */
export async function collectRows({ columns, chunks }: RowStream): Promise<QueryResult> {
  const rows: (readonly unknown[])[] = [];
  for await (const some of chunks()) rows.push(...some);
  return { columns, rows };
}
