import { cpSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { run } from '../src/export/run.ts';
import { freshFolder } from './scratch.ts';

/**
 * A copy of a warehouse of the sandbox network, which the first test that asks for it exports for all files and processes.
 *
 * @param runs pipeline and range of each run, in order
 */
export async function goldenWarehouse(
  ...runs: readonly (readonly [pipeline: string, range: string])[]
): Promise<string> {
  const golden = join(inject('scratch'), 'golden', runs.flat().join('-').replaceAll(':', '-'));
  if (!existsSync(golden)) {
    const made = join(freshFolder(), 'w');
    for (const [pipeline, range] of runs) {
      await run({ pipelines: [pipeline], network: 'sandbox', range, warehouse: made });
    }
    try {
      renameSync(made, golden);
    } catch (error) {
      // Another process was first.
      if (!existsSync(golden)) throw error;
    }
  }
  const copy = join(freshFolder(), 'w');
  cpSync(golden, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}
