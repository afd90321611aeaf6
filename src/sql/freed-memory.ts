import { Session } from 'node:inspector';
import { Database } from './database.ts';

/**
 * Collects garbage, and returns free memory of the process to the system. V8 collects buffers late, because it sees only their small objects,
 * and retains nearly empty heap pages. glibc retains freed memory: after a large block was freed, it serves blocks of up to 32 MB from heaps,
 * where a few small blocks in use hold back the free space between them. DuckDB calls `malloc_trim` when an instance is closed. Blocks the
 * event loop for about 0.1 s; without glibc there is nothing to trim.
 */
export async function returnFreedMemory(): Promise<void> {
  await collectHeap();
  (await Database.open(':memory:', { threads: '1' })).close();
}

/** Memory of a process between two steps of its work, in bytes, and the growth since then that is worth the time to return it. */
const IDLE_BYTES = 250e6;
const GROWTH_BYTES = 100e6;
let idleBytes = IDLE_BYTES;

/**
 * Returns freed memory if the process has grown. Called before each step that may read many rows: a step would take its memory on top of what
 * the allocator retains of the steps before. A failure costs memory only.
 */
export async function trimGrownProcess(): Promise<void> {
  if (process.memoryUsage.rss() < idleBytes + GROWTH_BYTES) return;
  await returnFreedMemory().catch(() => undefined);
  idleBytes = Math.max(IDLE_BYTES, process.memoryUsage.rss());
}

/** Collects as V8 does when memory is low, and returns empty pages. Node has no other call for it without a command-line flag. */
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
