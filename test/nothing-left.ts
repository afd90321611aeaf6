import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests make their folders. */
    scratch: string;
  }
}

/** Memory that must be free for the folders of tests, which take up to 1 GB at once. */
const ROOM = 6 * 2 ** 30;

/** Linux's file system in memory, if there is much room: folders of small files are faster there, and end with no wait for a disk. */
function fastest(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (process.env['TMPDIR'] === undefined && Math.min(bavail * bsize, freemem()) > ROOM) return '/dev/shm';
  } catch {
    // Not Linux.
  }
  return tmpdir();
}

/** Before all tests a folder for theirs, and for warehouses that files share; after all of them nothing else may be left in it. */
export default function setup({ provide }: TestProject): () => void {
  const scratch = mkdtempSync(join(fastest(), 'tonlake-test-'));
  mkdirSync(join(scratch, 'golden'));
  provide('scratch', scratch);
  return () => {
    const left = readdirSync(scratch).filter((name) => name !== 'golden');
    rmSync(scratch, { recursive: true });
    if (left.length === 0) return;
    // vitest prints an error that is thrown here, and ends as if there were none.
    process.exitCode = 1;
    throw new Error(`tests left ${left.length} folders behind`);
  };
}
