import type * as duckdb from '@duckdb/node-api';
import { StoreError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import type { RowStream } from './query-result.ts';

type Chunk = duckdb.DuckDBDataChunk;
type Result = duckdb.DuckDBResult;

/** Runs a query and fetches its chunks. */
interface ChunkSource {
  begin(sql: string): Promise<Result>;
  fetch(result: Result): Promise<Chunk | null>;
  /** The error of a query that failed while its rows were read. */
  failureOf(sql: string): Promise<unknown>;
  /** Calls `work` with a statement, and again with the new paths if its files have moved. */
  withRelocation<T>(sql: string, work: (text: string) => Promise<T>): Promise<T>;
  /** A failed statement with the new paths of its files. @throws the error, unless a file has moved */
  relocated(sql: string, error: unknown): Promise<string>;
}

/** The rows of a query, in chunks. */
export interface Chunks {
  readonly result: Result;
  /** Reads the next rows; undefined after the last ones. */
  next(): Promise<Chunk | undefined>;
}

/** Runs a query. If one of its files moves while rows are read, it runs again and continues after the rows that were read. */
export async function readChunks(sql: string, source: ChunkSource): Promise<Chunks> {
  const read = new ReadChunks();
  const begin = (statement: string) =>
    source.withRelocation(statement, async (text) => {
      const chunks = await beginChunks(text, source);
      await read.skip(chunks.next);
      return { ...chunks, text };
    });
  let running = await begin(sql);
  let isOver = false;
  const next = async (): Promise<Chunk | undefined> => {
    if (isOver) return undefined;
    try {
      const chunk = await running.next();
      if (chunk === undefined) isOver = true;
      else read.add(chunk);
      return chunk;
    } catch (error) {
      isOver = true;
      running = await begin(await source.relocated(running.text, error));
      isOver = false;
      return next();
    }
  };
  return { result: running.result, next };
}

/** DuckDB's JavaScript API ends the rows of a query that fails while they are read without an error. */
async function beginChunks(sql: string, source: ChunkSource): Promise<Chunks> {
  const result = await source.begin(sql);
  const canFail = result.isStreaming;
  const next = async (): Promise<Chunk | undefined> => {
    const chunk = await source.fetch(result);
    if (chunk !== null && chunk.rowCount > 0) return chunk;
    // A failed result is no longer a stream.
    if (canFail && !result.isStreaming) throw await source.failureOf(sql);
    return undefined;
  };
  return { result, next };
}

/** The rows of chunks, as JavaScript values. */
export function rowsOf({ result, next }: Chunks): RowStream {
  return {
    columns: result.columnNames().map((name, at) => ({ name, type: result.columnType(at).toString() })),
    chunks: async function* () {
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk.getRows();
    },
    countRest: async () => {
      let count = 0;
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) count += chunk.rowCount;
      return count;
    },
  };
}

/** Fingerprints of the chunks that were read, so that another run of the query can skip them. */
class ReadChunks {
  /** Hash of the row count, the first and the last row of each chunk. */
  readonly #sums: string[] = [];
  #last: Chunk | undefined;

  add(chunk: Chunk): void {
    this.#sums.push(sumOf(chunk));
    this.#last = chunk;
  }

  /**
   * Skips the chunks that were read before.
   * @param next reads the next chunk of another run
   * @throws {StoreError} `other-order`
   */
  async skip(next: () => Promise<Chunk | undefined>): Promise<void> {
    let chunk: Chunk | undefined;
    for (const sum of this.#sums) {
      chunk = await next();
      if (chunk === undefined || sumOf(chunk) !== sum) throw otherOrder();
    }
    // A join may reorder rows within a group, and a group may end in the next chunk.
    if (String(chunk?.getRows()) !== String(this.#last?.getRows())) throw otherOrder();
  }
}

function sumOf(chunk: Chunk): string {
  const { rowCount } = chunk;
  return sha256Of([rowCount, chunk.getRowValues(0), chunk.getRowValues(rowCount - 1)].join('\n'));
}

function otherOrder(): StoreError {
  return new StoreError(
    'store: query: files were merged while its rows were read, and read again they come in another order',
    { code: 'other-order', hint: 'run it again, or give it an ORDER BY' },
  );
}
