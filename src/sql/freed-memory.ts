import { Database } from './database.ts';

/**
 * Returns memory that this whole process has freed to the system. The C library keeps it otherwise: once a large piece was freed, pieces
 * of up to 32 MB come from heaps, in which a few small ones in use hold back what is free between them. DuckDB trims these heaps, by
 * `malloc_trim`, when an instance is closed. Takes a few milliseconds; without glibc there is nothing to trim.
 */
export async function returnFreedMemory(): Promise<void> {
  (await Database.open(':memory:', { threads: '1' })).close();
}
