import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { type Hashes, hashTables } from '../e2e/export.ts';
import { ALL_FAULTS, type Faults } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const registry = await loadRegistry();

async function exportAll(name: string, faults: Partial<Faults> = {}): Promise<Hashes> {
  const sandbox = await startTestSandbox({ faults });
  const warehouse = join(freshFolder(), name);
  const troubles: RunEvent[] = [];
  try {
    const { complete } = await run({
      ...{ pipelines: registry.lasting, range: '1000:1019', network: sandbox.url, warehouse },
      onEvent: (event) => {
        if (event.event === 'problem' || event.event === 'quarantine') troubles.push(event);
      },
    });
    expect(troubles).toEqual([]);
    expect(complete).toBe(true);
    return await hashTables(warehouse);
  } finally {
    await sandbox.close();
  }
}

/** Half of the usual rates: some pipelines send few requests, but many of them in a row. */
const FAULTS = Object.fromEntries(
  Object.entries(ALL_FAULTS).map(([name, value]) => [
    name,
    typeof value === 'number' && value < 0.1 ? value / 2 : value,
  ]),
);

test('all pipelines give the same rows in a folder, and in a file from a source with every fault', async () => {
  expect(await exportAll('w.duckdb', FAULTS)).toEqual(await exportAll('w'));
});
