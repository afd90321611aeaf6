import PQueue from 'p-queue';
import { usage } from '../core/errors.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { collectRows, type QueryResult } from '../sql/query-result.ts';
import { interruptible } from '../warehouse/query/interruptible.ts';
import { openQueries, type QueryOptions } from '../warehouse/query/query.ts';
import { type PlaceOptions, warehouseOf } from './place-options.ts';

export interface OpenOptions extends PlaceOptions, Pick<QueryOptions, 'dialect' | 'layouts'> {
  /** Refuses a query that reads what is missing or stale. Default false: it warns. */
  readonly strict?: boolean | undefined;
  /** Called once for each gap or stale mart. Default: a process warning, on stderr. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Values of `$name` in a query: texts, numbers, bigints, booleans, null, and DuckDB's JavaScript types. */
export type QueryParameters = Readonly<Record<string, unknown>>;

/** Values as DuckDB's JavaScript types: bigint for BIGINT, DuckDBDecimalValue, DuckDBTimestampValue. `String(value)` has all digits. */
export type Row = Readonly<Record<string, unknown>>;

export interface ResultColumn {
  readonly name: string;
  /** As DuckDB writes it: `BIGINT`, `DECIMAL(38,0)`. */
  readonly type: string;
  readonly values: readonly unknown[];
}

export interface QueryCall {
  /** An abort ends the query, and it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A warehouse that is open for queries. */
export interface Lake {
  /**
   * Runs one query and returns its rows as objects.
   *
   * @throws {UsageError} if two columns have one name; {StoreError} if the query is wrong; {AuditError} `missing` with `strict`
   */
  query(sql: string, parameters?: QueryParameters, call?: QueryCall): Promise<readonly Row[]>;
  /** As `query`, by column and with types. Columns may share a name. */
  columns(sql: string, parameters?: QueryParameters, call?: QueryCall): Promise<readonly ResultColumn[]>;
  close(): Promise<void>;
}

/**
 * Opens a warehouse for queries, as `tonlake sql`. Each query sees what is committed when it begins, also while the warehouse is written.
 * Queries run one after the other.
 *
 * @throws {StoreError} `no-warehouse` if nothing is there; `busy` while a DuckDB file is written
 * @throws {UsageError} if it is of another network than `network`
 */
export async function open(options: OpenOptions = {}): Promise<Lake> {
  const { network, strict, dialect, layouts, onWarning } = options;
  const warned = new Set<string>();
  const queries = await openQueries(warehouseOf(options), {
    network,
    strict,
    dialect,
    layouts,
    onWarning: (message) => {
      if (warned.has(message)) return;
      warned.add(message);
      if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_MISSING' });
      else onWarning(message);
    },
  });
  const turns = new PQueue({ concurrency: 1 });
  const read = (sql: string, parameters?: QueryParameters, { signal }: QueryCall = {}): Promise<QueryResult> => {
    const waiting = linkSignals([signal]);
    return turns.add(
      () => {
        // From here on, the turn ends only with the query, which the next one must not overlap.
        waiting.release();
        const work = (): Promise<QueryResult> => queries.read(sql, collectRows, parameters);
        return signal === undefined ? work() : interruptible(queries, signal, work);
      },
      { signal: waiting.signal },
    );
  };
  return {
    query: async (...call) => rowsOf(await read(...call)),
    columns: async (...call) => {
      const { columns, rows } = await read(...call);
      return columns.map((column, at) => ({ ...column, values: rows.map((row) => row[at]) }));
    },
    close: async () => {
      await turns.onIdle();
      await queries.close();
    },
  };
}

/** @throws {UsageError} */
function rowsOf({ columns, rows }: QueryResult): readonly Row[] {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw usage(
      'a name for each column',
      `${twice} twice`,
      `write "AS other_name" after one of them, or read the columns`,
    );
  }
  return rows.map((row) => Object.fromEntries(row.map((value, at) => [names[at], value])));
}
