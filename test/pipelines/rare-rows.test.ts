import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';

type Row = Readonly<Record<string, unknown>>;

/** Exports from a source that changes the rows of one endpoint. @returns the warehouse */
async function exported(path: string, key: string, change: (rows: readonly Row[]) => readonly Row[]): Promise<string> {
  const sandbox = await startTestSandbox({ blocks: 1500 });
  sandbox.changeAnswers((request, answer) => (request.path === path ? withRows(answer, key, change) : undefined));
  const warehouse = join(freshFolder(), 'w');
  const pipelines = ['transactions', path === '/messages' ? 'message_links' : key];
  const report = await run({ pipelines, network: sandbox.url, range: '1000:1029', warehouse });
  expect(report).toMatchObject({ complete: true, quarantined: 0 });
  expect((await verify(warehouse)).findings).toEqual([]);
  return warehouse;
}

const countOf = async (warehouse: string, from: string): Promise<number> =>
  Number((await query(warehouse, `SELECT count(*) FROM ${from}`))[0]?.[0]);

test('a message of a broken trace has two rows, one for each of its transactions', async () => {
  const split = new Set<unknown>();
  const warehouse = await exported('/messages', 'messages', (rows) =>
    rows.flatMap((row) => {
      const { in_msg_tx_hash: received, out_msg_tx_hash: sent, hash } = row;
      if (received === undefined || sent === undefined || !String(hash).startsWith('A')) return [row];
      split.add(hash);
      const { in_msg_tx_hash: _in, ...outgoing } = row;
      const { out_msg_tx_hash: _out, ...incoming } = row;
      return [outgoing, incoming];
    }),
  );
  expect(split.size).toBeGreaterThan(3);
  const of = `message_links WHERE msg_hash IN (${[...split].map((hash) => `'${hash}'`).join(', ')})`;
  const stored = await countOf(warehouse, of);
  expect(stored).toBeGreaterThan(6);
  expect(await countOf(warehouse, `${of} AND in_msg_tx_hash IS NULL AND out_msg_tx_hash IS NOT NULL`)).toBe(stored / 2);
  expect(await countOf(warehouse, `${of} AND in_msg_tx_hash IS NOT NULL AND out_msg_tx_hash IS NULL`)).toBe(stored / 2);
});

test('an address that a message does not have is addr_none in the tables, as in the answer', async () => {
  const warehouse = await exported('/jetton/transfers', 'jetton_transfers', (rows) =>
    rows.map((row) => ({ ...row, destination: 'addr_none', response_destination: 'addr_none' })),
  );
  const all = await countOf(warehouse, 'jetton_transfers');
  expect(all).toBeGreaterThan(10);
  const none = `jetton_transfers WHERE destination = 'addr_none' AND response_destination = 'addr_none'`;
  expect(await countOf(warehouse, none)).toBe(all);
});

test('a transfer of an item without a collection has an empty one', async () => {
  const warehouse = await exported('/nft/transfers', 'nft_transfers', (rows) =>
    rows.map((row, index) => (index % 2 === 0 ? { ...row, nft_collection: '' } : row)),
  );
  const [all, none] = [await countOf(warehouse, 'nft_transfers'), "nft_transfers WHERE nft_collection_address = ''"];
  expect(all).toBeGreaterThan(3);
  expect(await countOf(warehouse, none)).toBeGreaterThan(1);
  expect(await countOf(warehouse, none)).toBeLessThan(all);
});
