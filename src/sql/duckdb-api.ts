import { createRequire } from 'node:module';
import type * as duckdb from '@duckdb/node-api';

const load = createRequire(import.meta.url);
let loaded: typeof duckdb | undefined;

/**
 * DuckDB, loaded when it is first needed; many commands never need it. Not with `import`, for which Node first scans the package for
 * export names; that takes twice as long as the rest.
 */
export function duckdbApi(): typeof duckdb {
  loaded ??= load('@duckdb/node-api') as typeof duckdb;
  return loaded;
}

/** Functions of DuckDB's bindings that expose the memory of a vector; its API package does not. */
interface VectorMemory {
  data_chunk_get_vector(chunk: duckdb.DuckDBDataChunk['chunk'], column: number): object;
  vector_get_data(vector: object, bytes: number): Uint8Array;
  /** One bit per row, least significant first; null if no row is null. */
  vector_get_validity(vector: object, bytes: number): Uint8Array | null;
  /** Bytes at a pointer that is stored in a buffer. */
  get_data_from_pointer(buffer: ArrayBufferLike, offset: number, bytes: number): Uint8Array;
}

let memory: VectorMemory | undefined;

export function vectorMemory(): VectorMemory {
  memory ??= createRequire(load.resolve('@duckdb/node-api'))('@duckdb/node-bindings') as VectorMemory;
  return memory;
}
