import { afterAll, beforeAll, expect, test } from 'vitest';
import { comparisonOf } from '../../src/audit/list-faults.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { Database } from '../../src/sql/database.ts';

const PROTOCOL = `-1:${'0'.repeat(64)}`;
const JUDGED = 'SELECT 10 AS run_from, 19 AS run_to, 10 AS held_from, 100::BIGINT AS low, 200::BIGINT AS high';

let database: Database;
beforeAll(async () => {
  database = await Database.open();
  await database.run(`CREATE TABLE _message_ends AS SELECT * FROM (VALUES
    ('sent', 'tx1', 10, 'out', '0:A', 110::BIGINT), ('sent', 'tx2', 12, 'in', '0:A', 110),
    ('minted', 'tx3', 11, 'in', '${PROTOCOL}', 111))
    AS ends(msg_hash, tx_hash, tx_mc_block_seqno, direction, source, created_lt)`);
});
afterAll(() => database.close());

/** Faults of links: hash, sender, consumer. */
async function faultsOf(...links: readonly (readonly [string, string | null, string | null])[]) {
  const comparison = comparisonOf((await loadRegistry()).pipeline('message_links'));
  const text = (value: string | null): string => (value === null ? 'NULL::VARCHAR' : `'${value}'`);
  const rows = links.map((link) => `(${link.map(text).join(', ')}, ${link[0] === 'sent' ? 110 : 111}::BIGINT)`);
  const own = `SELECT * FROM (VALUES ${rows.join(', ')}) AS l(msg_hash, out_msg_tx_hash, in_msg_tx_hash, created_lt)`;
  const sql = comparison?.faults({ own, judged: JUDGED }) ?? '';
  return (await database.query(`SELECT seqno::INTEGER, item, got, kind FROM (${sql}) ORDER BY ALL`)).rows;
}

test('links of what transactions sent and received have no fault', async () => {
  expect(await faultsOf(['sent', 'tx1', 'tx2'], ['minted', null, 'tx3'])).toEqual([]);
});

test('a link of a message that the protocol created is missing if its receiver is stored', async () => {
  expect(await faultsOf(['sent', 'tx1', 'tx2'])).toEqual([[11, 'minted', 'no link', 'missing']]);
});

test('a link in transit is outdated if its receiver is stored, in the block of its sender', async () => {
  const faults = await faultsOf(['sent', 'tx1', null], ['minted', null, null]);
  expect(faults).toEqual([
    [10, 'sent', 'in transit', 'outdated'],
    [11, 'minted', 'in transit', 'outdated'],
  ]);
});

test('a link in transit beside the same one with its receiver, of a later reading, is outdated', async () => {
  const faults = await faultsOf(['sent', 'tx1', null], ['sent', 'tx1', 'tx2'], ['minted', null, 'tx3']);
  expect(faults).toEqual([[10, 'sent', 'in transit', 'outdated']]);
});

test('a link in two halves, as in a broken trace, has no fault', async () => {
  expect(await faultsOf(['sent', 'tx1', null], ['sent', null, 'tx2'], ['minted', null, 'tx3'])).toEqual([]);
});
