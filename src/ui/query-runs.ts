import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { StoreError, usage } from '../core/errors.ts';
import { type Confinement, requireQueries } from '../sql/confined-sql.ts';
import type { QueryResult } from '../sql/query-result.ts';
import type { RelationSource } from '../sql/relation-writer.ts';
import { interruptible } from '../warehouse/query/interruptible.ts';
import { openQueries, type Queries, type QueryOptions } from '../warehouse/query/query.ts';
import { type OpenWarehouse, openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import type { UiOptions } from './ui-options.ts';
import type { RunResult } from './ui-types.ts';

/** Maximum number of stored rows of a result. */
export const MAX_ROWS = 1_000_000;
/** Number of stored results; older ones are dropped. */
const MAX_RESULTS = 4;
/** Number of concurrent queries; others wait. */
const MAX_RUNNING = 2;

/** A finished query. */
export interface FinishedQuery {
  readonly result: Omit<RunResult, 'columns'> & Pick<QueryResult, 'columns'>;
  readonly source: RelationSource;
  readonly queries: Queries;
}

/** Runs queries of the page, each in its own database, and stores the rows of the last few. */
export class QueryRuns {
  readonly #options: UiOptions;
  readonly #scratch: string;
  readonly #turns = new PQueue({ concurrency: MAX_RUNNING });
  readonly #finished = new Map<string, FinishedQuery>();

  private constructor(options: UiOptions, scratch: string) {
    this.#options = options;
    this.#scratch = scratch;
  }

  static async open(options: UiOptions): Promise<QueryRuns> {
    return new QueryRuns(options, await mkdtemp(join(tmpdir(), 'tonlake-ui-')));
  }

  /** @throws {StoreError} if it is cancelled or takes too long, and as {@link openQueries} */
  async run(
    sql: string,
    options: Pick<QueryOptions, 'params' | 'dialect'>,
    signal: AbortSignal,
  ): Promise<FinishedQuery['result']> {
    requireQueries(sql);
    const finished = await this.#turns.add(() => this.#runNow(sql, options, signal));
    const { id } = finished.result;
    this.#finished.set(id, finished);
    const old = [...this.#finished.keys()].slice(0, -MAX_RESULTS);
    for (const each of old) await this.#forget(each);
    return finished.result;
  }

  /** @throws {UsageError} `unknown-result` */
  result(id: string): FinishedQuery {
    const found = this.#finished.get(id);
    if (found === undefined)
      throw usage('a stored result', 'an older one', 'run the query again', { code: 'unknown-result' });
    // Moves it to the end: the least recently used result is dropped first.
    this.#finished.delete(id);
    this.#finished.set(id, found);
    return found;
  }

  /** Runs `work` in its own database, within the limits of a query. @throws as {@link openQueries}, and as `run` */
  inWarehouse<T>(signal: AbortSignal, work: (opened: OpenWarehouse) => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      const { warehouse, network } = this.#options;
      const opened = await openWarehouse(warehouse, { network, confinement: this.#confinement(), isPinned: true });
      const { reader } = opened;
      try {
        return await this.#bounded(reader, signal, () => work(opened));
      } finally {
        await reader.close();
      }
    });
  }

  /** A path for a temporary file, which the caller removes. */
  scratchFile(ending: string): string {
    return join(this.#scratch, `${randomUUID()}.${ending}`);
  }

  async close(): Promise<void> {
    for (const id of [...this.#finished.keys()]) await this.#forget(id);
    await rm(this.#scratch, { recursive: true, force: true });
  }

  async #forget(id: string): Promise<void> {
    const finished = this.#finished.get(id);
    this.#finished.delete(id);
    await finished?.queries.close();
  }

  async #runNow(sql: string, options: QueryOptions, signal: AbortSignal): Promise<FinishedQuery> {
    const startedAt = performance.now();
    const warnings: string[] = [];
    const { warehouse, network } = this.#options;
    const queries = await openQueries(warehouse, {
      ...options,
      network,
      confinement: this.#confinement(),
      onWarning: (gap) => void warnings.push(gap),
    });
    try {
      const stored = await this.#bounded(queries, signal, () => queries.materialize(sql, MAX_ROWS));
      const { columns, count, isCut, source } = stored;
      const bytesRead = await readBytes(source);
      const ms = Math.round(performance.now() - startedAt);
      return { result: { id: randomUUID(), columns, count, isCut, warnings, ms, bytesRead }, source, queries };
    } catch (error) {
      await queries.close();
      throw error;
    }
  }

  #confinement(): Confinement {
    const { memoryMb, allowFiles } = this.#options;
    return { memoryMb, temporaryMb: memoryMb * 8, scratch: this.#scratch, allowFiles };
  }

  /**
   * Runs `work` within the time limit of a query, and interrupts `queries` at its end.
   * @throws {StoreError} if it is cancelled or takes too long
   */
  #bounded<T>(queries: Pick<Queries, 'interrupt'>, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withinTime(this.#options.seconds, signal, (end) => interruptible(queries, end, work));
  }
}

/** Runs `work`, and aborts it when `signal` aborts or the time is over. @throws {StoreError} if it is cancelled or takes too long */
export async function withinTime<T>(
  seconds: number,
  signal: AbortSignal,
  work: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]);
  try {
    return await work(end);
  } catch (error) {
    if (!end.aborted || error !== end.reason) throw error;
    if (signal.aborted) throw new StoreError('store: query: cancelled');
    throw new StoreError(`store: query: expected an end within ${seconds} s, stopped`, {
      hint: 'narrow it down, for example by block_date; or start the server with a larger --seconds',
    });
  }
}

/** Bytes read from Parquet files, by DuckDB's log; null in a DuckDB warehouse. */
async function readBytes({ query }: RelationSource): Promise<number | null> {
  const { rows } = await query("SELECT sum(bytes)::DOUBLE FROM duckdb_logs_parsed('FileSystem') WHERE op = 'READ'");
  const bytes = rows[0]?.[0];
  return bytes === null || bytes === undefined ? null : Number(bytes);
}
