import type * as duckdb from '@duckdb/node-api';
import { StoreError } from '../core/errors.ts';
import { quoteText } from './canonical-text.ts';
import { type Confinement, confiningStatements, requireQuery } from './confined-sql.ts';
import { duckdbApi, vectorMemory } from './duckdb-api.ts';
import { MemoryLimit } from './memory-limit.ts';
import type { Query, Stream } from './query-result.ts';
import { readChunks, rowsOf } from './read-chunks.ts';
import { remoteFailure } from './remote-failure.ts';
import { severalResults, splitStatements } from './statements.ts';

type DuckDBConnection = duckdb.DuckDBConnection;
type DuckDBInstance = duckdb.DuckDBInstance;
type DuckDBPreparedStatement = duckdb.DuckDBPreparedStatement;
type DuckDBValue = duckdb.DuckDBValue;

/** No network access: a query fails if it needs an extension that is not installed. */
const offline = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' } as const;

/** Interval between interrupts: one that comes before DuckDB has begun the statement has no effect. */
const INTERRUPT_MS = 10;

/** Catalog name of an attached file. */
const ATTACHED = 'warehouse';
/** Catalog name of a file while {@link Database.changeFile} changes it. */
const CHANGED = '_changed';

/** Rows in DuckDB's memory, valid until the next chunk is read. */
export interface RawRows {
  readonly count: number;
  /** One bit per row, least significant first; null if no row is null. */
  validity(column: number): Uint8Array | null;
  /** Fixed-width values. @param width in bytes */
  values(column: number, width: number): Uint8Array;
}

/** Size of a `duckdb_string_t`, a text or a blob: its length, then up to 12 bytes inline, or 4 bytes and a pointer to all. */
export const STRING_BYTES = 16;
const POINTER = 8;

/** The bytes of a text of more than 12 bytes. */
export function pointedBytes({ buffer, byteOffset }: Uint8Array, row: number, bytes: number): Uint8Array {
  return vectorMemory().get_data_from_pointer(buffer, byteOffset + row * STRING_BYTES + POINTER, bytes);
}

/** Finds the new paths of files that may have moved since a statement was written. */
export interface Relocation {
  /** True if an error says that a moved file is missing. */
  hasMoved(message: string): boolean;
  /** The statement with the current paths. Called outside of a transaction. */
  relocate(sql: string): Promise<string>;
}

/** A SQL function in JavaScript. */
export interface ScalarFunction {
  readonly name: string;
  /** Called once per DuckDB instance. */
  readonly create: () => duckdb.DuckDBScalarFunction;
}

/** A DuckDB instance with one connection. */
export class Database {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #isAttached: boolean;
  #memory = new MemoryLimit();
  /** Number of running DuckDB calls. */
  #running = 0;
  /** What to close when nothing runs any more. */
  #closing: 'connection' | 'all' | undefined;
  #interrupting: NodeJS.Timeout | undefined;
  /** True if the running call was interrupted. */
  #isInterrupted = false;
  /** The open transaction. */
  #transaction: 'READ WRITE' | 'READ ONLY' | undefined;
  #relocation: Relocation | undefined;
  /** Names of {@link define}. */
  readonly #functions = new Set<string>();
  /** Number of threads to restore after {@link define} set it to one. */
  #threads: bigint | undefined;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, isAttached: boolean) {
    this.#instance = instance;
    this.#connection = connection;
    this.#isAttached = isAttached;
  }

  static async open(path = ':memory:', settings: Readonly<Record<string, string>> = {}): Promise<Database> {
    const { instance, connection } = await createInstance(path, settings);
    return new Database(instance, connection, false);
  }

  /** Opens a file with options that only ATTACH takes, such as `ROW_GROUP_SIZE 20480`. */
  static async attach(
    path: string,
    options: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Database> {
    const { instance, connection } = await createInstance(':memory:', settings);
    const database = new Database(instance, connection, true);
    try {
      await database.run(`ATTACH ${quoteText(path)} AS ${ATTACHED} (${options})`);
      await database.run(`USE ${ATTACHED}`);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  }

  /** Another connection to the same instance, so that statements can run side by side. */
  async connect(): Promise<Database> {
    const connection = await this.#guarded(() => this.#instance.connect());
    const database = new Database(this.#instance, connection, this.#isAttached);
    database.#relocation = this.#relocation;
    database.#memory = this.#memory;
    if (this.#isAttached) await database.run(`USE ${ATTACHED}`);
    return database;
  }

  /** Reruns statements that fail because a file has moved, except in a transaction that writes. */
  relocateWith(relocation: Relocation): void {
    this.#relocation = relocation;
  }

  /** Confines further SQL to files of these folders, within limits, and to the current settings. */
  async confine(folders: readonly string[], limits: Confinement): Promise<void> {
    for (const statement of confiningStatements(folders, limits)) await this.run(statement);
  }

  /** @throws {StoreError} `not-a-query` unless it is one statement that only selects, or creates something temporary */
  requireQuery(statement: string): Promise<void> {
    return this.#guarded(() => this.#withRelocation(statement, (text) => requireQuery(this.#connection, text)));
  }

  /** Closes an attached file. Temporary objects stay. */
  async detach(): Promise<void> {
    await this.run('USE memory');
    await this.run(`DETACH ${ATTACHED}`);
  }

  /**
   * Creates or opens a database file, runs statements in one transaction, and closes it. One file at a time.
   * @param options of ATTACH
   */
  async changeFile(path: string, statements: readonly string[], options = 'READ_WRITE'): Promise<void> {
    await this.run(`ATTACH ${quoteText(path)} AS ${CHANGED} (${options})`);
    try {
      await this.run(`USE ${CHANGED}`);
      await this.transaction(() => this.run(statements.join(';\n')));
      await this.run('CHECKPOINT');
    } finally {
      await this.run(`USE memory; DETACH ${CHANGED}`);
    }
  }

  /**
   * Defines the functions that the next statements call. Functions with known names are not replaced.
   *
   * DuckDB calls them in the JavaScript thread, once per chunk. With a second DuckDB thread, chunks would follow each other without a turn for
   * timers, requests and signals, so there is only one thread until the next call without functions.
   */
  async define(functions: readonly ScalarFunction[]): Promise<void> {
    for (const { name, create } of functions) {
      if (!this.#functions.has(name)) this.#connection.registerScalarFunction(create());
      this.#functions.add(name);
    }
    const hasAll = this.#threads === undefined;
    if (hasAll === (functions.length === 0)) return;
    const [threads] = (await this.query("SELECT current_setting('threads')")).rows.flat();
    if (BigInt(String(threads)) !== (this.#threads ?? 1n)) await this.run(`SET threads = ${this.#threads ?? 1}`);
    this.#threads = hasAll ? BigInt(String(threads)) : undefined;
  }

  /** Cancels the running statement, which rejects. */
  interrupt(): void {
    if (this.#running > 0) this.#isInterrupted = true;
    this.#connection.interrupt();
  }

  async run(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#guarded(() =>
      this.#withRelocation(sql, (text) => withRemoteErrors(() => this.#connection.run(text, bindable(parameters)))),
    );
  }

  readonly query: Query = (sql, parameters) =>
    this.#guarded(() => this.#withRelocation(sql, (text) => this.#query(text, parameters)));

  readonly #query: Query = async (sql, parameters) => {
    const last = parameters === undefined ? await this.#runAllButLast(sql) : undefined;
    const reader = await withRemoteErrors(() =>
      last === undefined ? this.#connection.runAndReadAll(sql, bindable(parameters)) : last.runAndReadAll(),
    );
    const names = reader.columnNames();
    return {
      columns: names.map((name, at) => ({ name, type: reader.columnType(at).toString() })),
      rows: reader.getRows(),
    };
  };

  /** As `query`, but passes rows on as DuckDB produces them. Of several statements, the last returns the rows. */
  readonly stream: Stream = (sql, parameters, use) => this.#guarded(() => this.#stream(sql, parameters, use));

  readonly #stream: Stream = async (sql, parameters, use) => use(rowsOf(await this.#chunks(sql, parameters)));

  /** Runs a query and passes on its rows as they are in memory: much faster than JavaScript values. */
  readRaw(sql: string, use: (rows: RawRows) => void): Promise<void> {
    return this.#guarded(async () => {
      const memory = vectorMemory();
      const { next } = await this.#chunks(sql);
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
        const { chunk: own, rowCount: count } = chunk;
        const vectorOf = (column: number): object => memory.data_chunk_get_vector(own, column);
        use({
          count,
          validity: (column) => memory.vector_get_validity(vectorOf(column), 8 * Math.ceil(count / 64)),
          values: (column, width) => memory.vector_get_data(vectorOf(column), count * width),
        });
      }
    });
  }

  #chunks(sql: string, parameters?: Readonly<Record<string, unknown>>) {
    return readChunks(sql, {
      begin: async (text) => {
        const last = parameters === undefined ? await this.#runAllButLast(text) : undefined;
        return withRemoteErrors(() =>
          last === undefined ? this.#connection.stream(text, bindable(parameters)) : last.stream(),
        );
      },
      fetch: (result) => withRemoteErrors(() => result.fetchChunk()),
      failureOf: (text) => this.#failureOf(text, parameters),
      withRelocation: (text, work) => this.#withRelocation(text, work),
      relocated: (text, error) => this.#relocated(text, error),
    });
  }

  /** Calls `work` with a statement, and again with the new paths if its files have moved. */
  async #withRelocation<T>(sql: string, work: (text: string) => Promise<T>): Promise<T> {
    try {
      return await work(sql);
    } catch (error) {
      return this.#withRelocation(await this.#relocated(sql, error), work);
    }
  }

  /** A failed statement with the new paths of its files. @throws the error, unless a file has moved */
  async #relocated(sql: string, error: unknown): Promise<string> {
    const [relocation, transaction] = [this.#relocation, this.#transaction];
    if (relocation === undefined || transaction === 'READ WRITE' || !(error instanceof Error)) throw error;
    if (!relocation.hasMoved(error.message)) throw error;
    if (transaction === undefined) return relocation.relocate(sql);
    // A failed transaction runs no further statements.
    await this.#connection.run('ROLLBACK');
    this.#transaction = undefined;
    try {
      return await relocation.relocate(sql);
    } finally {
      await this.#connection.run(`BEGIN TRANSACTION ${transaction}`);
      this.#transaction = transaction;
    }
  }

  /** The error of a query that failed while its rows were read: runs it again, and drops the rows. */
  async #failureOf(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#isInterrupted) return new Error('INTERRUPT Error: Interrupted!');
    if (this.#transaction !== undefined) {
      await this.#connection.run('ROLLBACK');
      await this.#connection.run(`BEGIN TRANSACTION ${this.#transaction}`);
    }
    const statements = parameters === undefined ? splitStatements(sql) : [sql];
    const again = [...statements.slice(0, -1), `EXPLAIN ANALYZE ${statements.at(-1)}`].join(';\n');
    try {
      await withRemoteErrors(() => this.#connection.run(again, bindable(parameters)));
    } catch (error) {
      return error;
    }
    return new StoreError('store: query: it failed while its rows were read, and not when it ran once more', {
      code: 'failed',
      hint: 'run it again',
    });
  }

  /** How many statements a text has. @throws if DuckDB cannot parse it */
  count = async (text: string): Promise<number> => (await this.#connection.extractStatements(text)).count;

  /** The tables that a statement names; none if DuckDB cannot parse it. */
  tablesIn(statement: string): readonly string[] {
    try {
      return this.#closing === undefined ? this.#connection.getTableNames(statement, false) : [];
    } catch {
      return [];
    }
  }

  /** DuckDB would return the rows of the first statement. @returns the last one, if there are several */
  async #runAllButLast(sql: string): Promise<DuckDBPreparedStatement | undefined> {
    if (!/;\s*\S/.test(sql)) return undefined;
    const statements = await this.#connection.extractStatements(sql);
    if (statements.count < 2) return undefined;
    for (let at = 0; at < statements.count - 1; at++) {
      const statement = await statements.prepare(at);
      if (returnsRows(statement)) throw severalResults(at + 1, statements.count);
      await statement.run();
    }
    return statements.prepare(statements.count - 1);
  }

  /** Runs `work` in a transaction. A read-only one can still create temporary objects. */
  async transaction<T>(work: () => Promise<T>, how: 'READ WRITE' | 'READ ONLY' = 'READ WRITE'): Promise<T> {
    await this.run(`BEGIN TRANSACTION ${how}`);
    this.#transaction = how;
    try {
      const result = await work();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      // After a failed COMMIT there is nothing to roll back; the first error is the one to report.
      await this.run('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      this.#transaction = undefined;
    }
  }

  /** Runs `work`, with more memory if it needs that; see {@link MemoryLimit.within}. */
  withMemory<T>(work: () => Promise<T>): Promise<T> {
    return this.#memory.within(this.query, work);
  }

  /** Closes this connection only; interrupts a running call first. */
  disconnect(): void {
    this.#close('connection');
  }

  /** Closes the connection and the instance; interrupts a running call first, and waits for its end. */
  close(): void {
    this.#close('all');
  }

  #close(what: 'connection' | 'all'): void {
    const before = this.#closing;
    if (before === 'all' || before === what) return;
    this.#closing = what;
    if (this.#running > 0) this.#interrupting ??= setInterval(() => this.interrupt(), INTERRUPT_MS);
    else if (before === undefined) this.#closeNow();
    else this.#instance.closeSync();
  }

  #closeNow(): void {
    clearInterval(this.#interrupting);
    this.#connection.closeSync();
    if (this.#closing === 'all') this.#instance.closeSync();
  }

  /** The process crashes if a connection is closed while a thread of DuckDB uses it. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new StoreError('store: query: the database is closed', { code: 'closed' });
    if (this.#running === 0) this.#isInterrupted = false;
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      if (this.#running === 0 && this.#closing !== undefined) this.#closeNow();
    }
  }
}

/** An instance whose connections show times in UTC, whatever the time zone of this machine. */
async function createInstance(path: string, { lock_configuration, ...settings }: Readonly<Record<string, string>>) {
  const instance = await duckdbApi().DuckDBInstance.create(path, { ...offline, ...settings });
  const connection = await instance.connect();
  await connection.run("SET GLOBAL TimeZone = 'UTC'");
  if (lock_configuration) await connection.run('SET lock_configuration = true');
  return { instance, connection };
}

/** @throws {StoreAccessError} if DuckDB could not read from an object store; otherwise its own error */
async function withRemoteErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw remoteFailure(error) ?? error;
  }
}

/** True if a statement returns rows. */
function returnsRows({ statementType: type }: DuckDBPreparedStatement): boolean {
  const { SELECT, EXPLAIN, EXECUTE } = duckdbApi().StatementType;
  return [SELECT, EXPLAIN, EXECUTE].includes(type);
}

/** DuckDB checks the values itself. */
function bindable(parameters: Readonly<Record<string, unknown>> | undefined): Record<string, DuckDBValue> | undefined {
  return parameters === undefined ? undefined : (parameters as Record<string, DuckDBValue>);
}
