import { tmpdir } from 'node:os';
import { join } from 'node:path';

let readers = 0;

/** Keeps DuckDB's temporary files out of the working folder, their default place. */
export function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}
