import { afterAll, beforeAll, expect, test } from 'vitest';
import { comparisonOf } from '../../src/audit/list-faults.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { ROLES, type RoleName } from '../../src/declare/roles.ts';
import { Database } from '../../src/sql/database.ts';

const PROTOCOL = `-1:${'0'.repeat(64)}`;
const BLOCKS = 'SELECT 10 AS run_from, 19 AS run_to, 10 AS stored_from';
const JUDGED = `${BLOCKS}, 100::BIGINT AS first, 100::BIGINT AS low, 200::BIGINT AS high`;
/** The first of these blocks has transactions before the logical time from which on all are stored. */
const JUDGED_LATER = `${BLOCKS}, 100::BIGINT AS first, 120::BIGINT AS low, 200::BIGINT AS high`;

let database: Database;
beforeAll(async () => {
  database = await Database.open();
  await database.run(`CREATE TABLE _message_ends AS SELECT * FROM (VALUES
    ('sent', 'tx1', 10, 'out', '0:A', 110::BIGINT), ('sent', 'tx2', 12, 'in', '0:A', 110),
    ('minted', 'tx3', 11, 'in', '${PROTOCOL}', 111))
    AS ends(msg_hash, tx_hash, tx_mc_block_seqno, direction, source, created_lt)`);
});
afterAll(() => database.close());

type Link = readonly [hash: string, sender: string | null, consumer: string | null];

function faultsOf(...links: readonly Link[]) {
  return faultsWithin(JUDGED, links);
}

async function faultsWithin(judged: string, links: readonly Link[]) {
  const comparison = comparisonOf((await loadRegistry()).pipeline('message_links'));
  const text = (value: string | null): string => (value === null ? 'NULL::VARCHAR' : `'${value}'`);
  const rows = links.map((link) => `(${link.map(text).join(', ')}, ${link[0] === 'sent' ? 110 : 111}::BIGINT)`);
  const own = `SELECT * FROM (VALUES ${rows.join(', ')}) AS l(msg_hash, out_msg_tx_hash, in_msg_tx_hash, created_lt)`;
  const relation = (role: RoleName): string => ROLES[role].relation;
  const sql = comparison?.faults({ own, judged, near: relation, since: relation }) ?? '';
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

test('early messages of the first block have links, beside those of the block before, which is not stored', async () => {
  const links: readonly Link[] = [
    ['sent', 'tx1', 'tx2'],
    ['minted', null, 'tx3'],
    ['of the block before', 'tx0', null],
  ];
  expect(await faultsWithin(JUDGED_LATER, links)).toEqual([]);
  expect(await faultsWithin(JUDGED_LATER, links.slice(2))).toEqual([
    [10, 'sent', 'no link', 'missing'],
    [11, 'minted', 'no link', 'missing'],
  ]);
  expect(await faultsWithin(JUDGED_LATER, [['sent', 'tx0', 'tx2'], ...links.slice(1)])).toEqual([
    [10, 'sent', 'tx0', 'wrong'],
  ]);
});
