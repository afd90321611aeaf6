import { tmpdir } from 'node:os';
import { join } from 'node:path';

let readers = 0;

/** Settings of a reader's instance: DuckDB's temporary files do not go to the working folder, which is the default. */
export function readerSettings(): Readonly<Record<string, string>> {
  readers++;
  return { temp_directory: join(tmpdir(), `tonlake-spill-${process.pid}-${readers}`) };
}

/**
 * Settings of a writer's instance. It has no cache of files that are read once, because the rows that it writes need the memory.
 *
 * @param name of the instance: two that spill into one folder would overwrite each other's files
 */
export function writerSettings(
  staging: string,
  name: string,
  { threads }: { readonly threads: number },
): Readonly<Record<string, string>> {
  return {
    threads: String(threads),
    enable_external_file_cache: 'false',
    memory_limit: '256MB',
    temp_directory: join(staging, `spill-${name}`),
  };
}
