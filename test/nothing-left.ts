import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests make their folders. */
    scratch: string;
  }
}

/** Before all tests a folder for theirs; after all of them nothing may be left in it. */
export default function setup({ provide }: TestProject): () => void {
  const scratch = mkdtempSync(join(tmpdir(), 'tonlake-test-'));
  provide('scratch', scratch);
  return () => {
    const left = readdirSync(scratch);
    rmSync(scratch, { recursive: true });
    if (left.length === 0) return;
    // vitest prints an error that is thrown here, and ends as if there were none.
    process.exitCode = 1;
    throw new Error(`tests left ${left.length} folders behind`);
  };
}
