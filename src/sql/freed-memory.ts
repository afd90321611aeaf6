import { Session } from 'node:inspector';
import { Database } from './database.ts';

/**
 * Collects garbage, and returns the memory of this whole process that is free to the system. V8 collects the memory of buffers late, because
 * it sees only their small objects, and keeps pages of its heap that are nearly empty. The C library keeps what was freed: once a large
 * piece was freed, pieces of up to 32 MB come from heaps, in which a few small ones in use hold back what is free between them. DuckDB
 * trims these heaps, by `malloc_trim`, when an instance is closed. Stops all else for about a tenth of a second; without glibc there is
 * nothing to trim.
 */
export async function returnFreedMemory(): Promise<void> {
  await collectHeap();
  (await Database.open(':memory:', { threads: '1' })).close();
}

/** Collects as V8 does when memory is low, and returns empty pages. No other call of Node does so without a flag of the process. */
async function collectHeap(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      session.post('HeapProfiler.collectGarbage', (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    session.disconnect();
  }
}
