import { tmpdir } from 'node:os';
import { join } from 'node:path';

let readers = 0;

/** Keeps DuckDB's temporary files out of the working folder, their default place. */
export function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}

/** Settings of the queries of a writer, whose memory belongs to the rows that it writes. */
export function writerSettings(staging: string): Readonly<Record<string, string>> {
  return { threads: '2', memory_limit: '256MB', temp_directory: join(staging, 'spill-query') };
}
