import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';

/** What the tests of one file leave to be undone. */
const leftovers: (() => unknown)[] = [];

/**
 * Calls this after the tests of the file that runs now. A hook of a module that files share would serve the first of them only:
 * all files of a process see one instance of it.
 */
export function afterFile(undo: () => unknown): void {
  leftovers.push(undo);
}

/** A new empty folder, gone after the file's tests. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(inject('scratch'), 't-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Undoes everything, the last first: what writes into a folder ends before the folder. */
export async function cleanUp(): Promise<void> {
  for (const undo of leftovers.splice(0).reverse()) await undo();
}
