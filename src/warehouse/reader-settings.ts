import { tmpdir } from 'node:os';
import { join } from 'node:path';

let readers = 0;

/** Keeps DuckDB's temporary files out of the working folder, their default place. */
export function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}

/**
 * Settings of the queries of a writer, whose memory belongs to the rows that it writes.
 *
 * @param name of the instance: two that spill into one folder would overwrite each other's files
 */
export function writerSettings(staging: string, name: string, threads: number): Readonly<Record<string, string>> {
  return { threads: String(threads), memory_limit: '256MB', temp_directory: join(staging, `spill-${name}`) };
}
