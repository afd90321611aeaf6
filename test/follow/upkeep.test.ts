import { join } from 'node:path';
import { expect, test } from 'vitest';
import { follow, openWarehouse } from '../../src/index.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, startGrowing } from './support.ts';

test('files are merged between the rounds, and a consumer sees every row once', async () => {
  const { effects, sandbox } = await startGrowing(400, { activity: 0.1 });
  const warehouse = join(freshFolder(), 'w');
  let rounds = 0;
  const pipelines = ['transactions'];
  const { events } = await followUntil((event) => event.event === 'lag' && ++rounds === 8, {
    ...{ pipelines, network: sandbox.url, warehouse, effects, lagMs: 5000, from: '995:' },
  });
  expect(events.filter(({ event }) => event === 'merge-failed')).toEqual([]);
  expect(events.some((event) => event.event === 'merged')).toBe(true);
  const reader = await openWarehouse(warehouse);
  const { rows } = await reader.query('SELECT hash FROM transactions ORDER BY hash');
  await reader.close();
  const seen: string[] = [];
  for await (const { batches } of follow({ warehouse, tables: pipelines, wait: false })) {
    for (const { batch } of batches) seen.push(...[...(batch.getChild('hash') ?? [])].map(String));
  }
  expect(seen.sort()).toEqual(rows.map(([hash]) => hash));
});
