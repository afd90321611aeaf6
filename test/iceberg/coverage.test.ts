import { join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredTables } from '../../src/iceberg/declared-tables.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { registry } from '../marts/support.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { metadataOf, publishTables } from './published.ts';

/** Blocks of a day; 493 is the first one of 2026-07-23. */
const DAY = 6;

test('a snapshot says what is proven of a table: also if that changes while the files do not', async () => {
  const warehouse = join(freshFolder(), 'w');
  const sandbox = await startSandbox({ blocks: 600, blockTimeMs: 86_400_000 / DAY });
  afterFile(() => sandbox.close());
  const add = async (pipelines: readonly string[], range: string, ...more: readonly string[]): Promise<void> => {
    const place = ['--network', sandbox.url, '--warehouse', warehouse];
    const { code, stderr } = await tonlake(['run', ...pipelines, ...place, '--range', range, ...more]);
    expect(code, stderr).toBe(0);
  };
  const publish = async () => {
    const { events } = await publishTables(warehouse, declaredTables(registry, warehouse));
    return Object.fromEntries(events.map(({ table, ...event }) => [table, event]));
  };
  const summaryOf = async (table: string): Promise<unknown> => {
    const { snapshots } = (await metadataOf(warehouse, table)) as { snapshots: { summary: unknown }[] };
    return snapshots.at(-1)?.summary;
  };
  await add(['transactions', 'actions'], `493:${492 + 3.5 * DAY}`);
  await publish();
  const days = '2026-07-23/2026-07-25';
  expect(await summaryOf('transactions')).toMatchObject({
    ...{ 'tonlake.coverage': 'proven', 'tonlake.proven-days': days, 'tonlake.unproven-days': '' },
    'tonlake.left-out': '{}',
  });
  expect(await summaryOf('actions')).toMatchObject({
    ...{ 'tonlake.coverage': 'unproven', 'tonlake.proven-days': '', 'tonlake.unproven-days': days },
  });

  await add(['actions'], `${493 + 3.5 * DAY}:${493 + 4 * DAY}`);
  const { transactions } = await publish();
  expect(transactions).toMatchObject({ outcome: 'published', added: 0, removed: 0 });
  expect(await summaryOf('transactions')).toMatchObject({ 'tonlake.coverage': 'missing', 'tonlake.proven-days': days });
  expect((await publish())['transactions']).toMatchObject({ outcome: 'unchanged' });

  await add(['transactions'], `${493 + 3.5 * DAY}:${493 + 4 * DAY}`, '--without-column', 'messages.body_boc');
  await publish();
  expect(await summaryOf('transactions')).toMatchObject({ 'tonlake.coverage': 'proven', 'tonlake.left-out': '{}' });
  expect(await summaryOf('messages')).toMatchObject({ 'tonlake.left-out': '{"body_boc":"2026-07-26/2026-07-26"}' });
});
