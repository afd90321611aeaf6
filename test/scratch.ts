import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished, TestRunner } from 'vitest';

/** What the tests of one file leave to be undone. */
const leftovers: (() => unknown)[] = [];

/**
 * Calls this after the tests of the file that runs now. A hook of a module that files share would serve the first of them only:
 * all files of a process see one instance of it.
 */
export function afterFile(undo: () => unknown): void {
  leftovers.push(undo);
}

/** Closes it at the end of the running test, or after the tests of the file if none runs, unless that was done before. */
export function closing<T extends { close(): unknown }>(opened: T): T {
  const close = opened.close.bind(opened);
  let isClosed = false;
  const end = async (): Promise<void> => void (isClosed || (await close()));
  if (TestRunner.getCurrentTest() === undefined) afterFile(end);
  else onTestFinished(end);
  return Object.assign(opened, {
    close: () => {
      isClosed = true;
      return close();
    },
  });
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
