import type * as duckdb from '@duckdb/node-api';
import { StoreError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import type { RowStream } from './query-result.ts';

type Chunk = duckdb.DuckDBDataChunk;
type Result = duckdb.DuckDBResult;

/** How a query is run whose rows are read as they are made. */
interface ChunkSource {
  begin(sql: string): Promise<Result>;
  fetch(result: Result): Promise<Chunk | null>;
  /** Why a query failed while its rows were read. */
  failureOf(sql: string): Promise<unknown>;
  /** Does `work` with a statement, and again where files that it reads have moved meanwhile. */
  whereverFilesAre<T>(sql: string, work: (text: string) => Promise<T>): Promise<T>;
  /** What to run in place of a statement that failed. @throws the error, unless it is of a file that has moved */
  renewed(sql: string, error: unknown): Promise<string>;
}

/** The rows of a query, in chunks. */
export interface Chunks {
  readonly result: Result;
  /** Reads the next rows; undefined after the last ones. */
  next(): Promise<Chunk | undefined>;
}

/** Runs a query. If a file that it reads moves meanwhile, it runs again and goes on behind the rows that were read. */
export async function readChunks(sql: string, source: ChunkSource): Promise<Chunks> {
  const read = new ReadChunks();
  const begin = (statement: string) =>
    source.whereverFilesAre(statement, async (text) => {
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
      running = await begin(await source.renewed(running.text, error));
      isOver = false;
      return next();
    }
  };
  return { result: running.result, next };
}

/** DuckDB's JavaScript API ends the rows of a query that fails while they are read as it ends all others, and does not tell the error. */
async function beginChunks(sql: string, source: ChunkSource): Promise<Chunks> {
  const result = await source.begin(sql);
  const canFail = result.isStreaming;
  const next = async (): Promise<Chunk | undefined> => {
    const chunk = await source.fetch(result);
    if (chunk !== null && chunk.rowCount > 0) return chunk;
    // One that has failed is no stream any more.
    if (canFail && !result.isStreaming) throw await source.failureOf(sql);
    return undefined;
  };
  return { result, next };
}

/** The rows of chunks, as values of JavaScript. */
export function rowsOf({ result, next }: Chunks): RowStream {
  return {
    columns: result.columnNames().map((name, at) => ({ name, type: result.columnType(at).toString() })),
    lots: async function* () {
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk.getRows();
    },
    countRest: async () => {
      let count = 0;
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) count += chunk.rowCount;
      return count;
    },
  };
}

/** What was read of the rows of a query, so that another run of it can go on behind them. */
class ReadChunks {
  /** Of the number of rows, the first one and the last one of each chunk. */
  readonly #sums: string[] = [];
  #last: Chunk | undefined;

  add(chunk: Chunk): void {
    this.#sums.push(sumOf(chunk));
    this.#last = chunk;
  }

  /**
   * Leaves out what was read before.
   * @param next reads the next chunk of another run
   * @throws {StoreError} `other-order`
   */
  async skip(next: () => Promise<Chunk | undefined>): Promise<void> {
    let chunk: Chunk | undefined;
    for (const sum of this.#sums) {
      chunk = await next();
      if (chunk === undefined || sumOf(chunk) !== sum) throw otherOrder();
    }
    // Rows of one group of a join may change places within it, and a group may end in the next chunk.
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
