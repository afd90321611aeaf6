import { tmpdir } from 'node:os';
import { join } from 'node:path';

let readers = 0;

/** Reading leaves nothing behind in the working folder, where DuckDB would spill by default. */
export function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}
