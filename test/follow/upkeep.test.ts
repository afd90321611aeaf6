import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consume } from '../../src/feed/consume.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { watchInstances } from '../warehouse/duckdb-instances.ts';
import { followUntil, startGrowing } from './support.ts';

test('files are merged between the rounds, and a consumer sees every row once', async () => {
  const { effects, sandbox } = await startGrowing(400, { activity: 0.1 });
  const warehouse = join(freshFolder(), 'w');
  let rounds = 0;
  const { opened } = watchInstances();
  const pipelines = ['transactions'];
  const { events } = await followUntil((event) => event.event === 'lag' && ++rounds === 8, {
    ...{ pipelines, network: sandbox.url, warehouse, effects, lagMs: 5000, from: '995:' },
  });
  expect(events.filter(({ event }) => event === 'merge-failed')).toEqual([]);
  expect(events.some((event) => event.event === 'merged')).toBe(true);
  // What a merge needs would stay with a process that goes on, and so would a piece of each file in a cache.
  expect(opened.length).toBeGreaterThan(0);
  expect(opened.filter((given) => given['temp_directory']?.endsWith('spill'))).toEqual([]);
  expect(opened.filter((given) => given['enable_external_file_cache'] !== 'false')).toEqual([]);
  const reader = await openWarehouse(warehouse);
  const { rows } = await reader.query('SELECT hash FROM transactions ORDER BY hash');
  await reader.close();
  const seen: string[] = [];
  for await (const { batches } of consume({ warehouse, tables: pipelines, wait: false })) {
    for (const { batch } of batches) seen.push(...[...(batch.getChild('hash') ?? [])].map(String));
  }
  expect(seen.sort()).toEqual(rows.map(([hash]) => hash));
});
