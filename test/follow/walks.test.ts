import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import type { WalkEvent } from '../../src/export/walk-context.ts';
import { hashTables, query } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

test('lists, lookups and changing lists are followed with the rows of a run', async () => {
  const { effects, sandbox } = await startGrowing(40);
  const warehouse = join(freshFolder(), 'w');
  const pipelines = ['jetton_transfers', 'traces', 'decoded_messages'];
  const options = { network: sandbox.url, warehouse, effects, pipelines };
  const refreshMs = { jetton_masters: 8_000 };
  const { events, report } = await followUntil(reaches(HEAD + 40), {
    ...{ ...options, refreshMs, lagMs: 10_000, from: '-4:' },
  });
  expect(report.complete).toBe(true);
  const readings = events.filter((event) => event.event === 'span' && event.pipeline === 'jetton_masters');
  expect(readings.length).toBeGreaterThanOrEqual(2);
  expect(readings.length).toBeLessThanOrEqual(3);
  // A new reading replaces the one before.
  expect(await query(warehouse, 'select count(distinct _read_at) from jetton_masters')).toEqual([['1']]);
  const spans = events.filter((event): event is WalkEvent & { event: 'span' } => event.event === 'span');
  expect(spans.filter(({ pipeline }) => pipeline === 'decoded_messages').length).toBeGreaterThan(2);
  const once = join(freshFolder(), 'once');
  await run({ ...options, warehouse: once, range: `${HEAD - 3}:${HEAD + 40}` });
  const [followed, wanted] = [await hashTables(warehouse), await hashTables(once)];
  for (const table of ['blocks', 'transactions', 'messages', 'jetton_transfers', 'traces']) {
    expect({ table, rows: followed[table] }).toEqual({ table, rows: wanted[table] });
  }
  const keys = "select count(*), count(distinct key) from lookups where pipeline = 'decoded_messages'";
  expect(await query(warehouse, keys)).toEqual(await query(once, keys));
});
