import { afterAll, expect, test } from 'vitest';
import { comparisonOf } from '../../src/audit/list-faults.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { ROLES, type RoleName } from '../../src/declare/roles.ts';
import { Database } from '../../src/sql/database.ts';

const PROTOCOL = `-1:${'0'.repeat(64)}`;
const BLOCKS = 'SELECT 10 AS run_from, 19 AS run_to, 10 AS stored_from';
const JUDGED = `${BLOCKS}, 100::BIGINT AS first, 100::BIGINT AS low, 200::BIGINT AS high`;
/** The first of these blocks has transactions before the logical time from which on all are stored. */
const JUDGED_LATER = `${BLOCKS}, 100::BIGINT AS first, 120::BIGINT AS low, 200::BIGINT AS high`;

const database = await Database.open();
/** What a message and its link say alike. */
const SAME = "'0:D' AS destination, 5 AS value, 1000 AS created_at";

await database.run(`CREATE TABLE _message_ends AS SELECT *, ${SAME} FROM (VALUES
  ('sent', 'tx1', 10, 'out', '0:A', 110::BIGINT), ('sent', 'tx2', 12, 'in', '0:A', 110),
  ('minted', 'tx3', 11, 'in', '${PROTOCOL}', 111))
  AS ends(msg_hash, tx_hash, tx_mc_block_seqno, direction, source, created_lt)`);
afterAll(() => database.close());

type Link = readonly [hash: string, sender: string | null, consumer: string | null];

async function faultsWithin(judged: string, links: readonly Link[]) {
  const comparison = comparisonOf((await loadRegistry()).pipeline('message_links'));
  const text = (value: string | null): string => (value === null ? 'NULL::VARCHAR' : `'${value}'`);
  const rows = links.map((link) => `(${link.map(text).join(', ')}, ${link[0] === 'sent' ? 110 : 111}::BIGINT)`);
  const source = `CASE msg_hash WHEN 'minted' THEN '${PROTOCOL}' ELSE '0:A' END AS source`;
  const own = `SELECT *, ${source}, ${SAME} FROM (VALUES ${rows.join(', ')}) AS l(msg_hash, out_msg_tx_hash, in_msg_tx_hash, created_lt)`;
  const relation = (role: RoleName): string => ROLES[role].relation;
  const sql = comparison?.faults({ own, judged, near: relation, since: relation }) ?? '';
  return (await database.query(`SELECT seqno::INTEGER, item, got, kind FROM (${sql}) ORDER BY ALL`)).rows;
}

type Fault = readonly [seqno: number, item: string, got: string, kind: string];

const SENT: Link = ['sent', 'tx1', 'tx2'];
const IN_TRANSIT: Link = ['sent', 'tx1', null];
const MINTED: Link = ['minted', null, 'tx3'];
const OUTDATED: Fault = [10, 'sent', 'in transit', 'outdated'];

test.each<readonly [what: string, links: readonly Link[], faults: readonly Fault[]]>([
  ['what transactions sent and received', [SENT, MINTED], []],
  [
    'all but a message that the protocol created, whose receiver is stored',
    [SENT],
    [[11, 'minted', 'no link', 'missing']],
  ],
  [
    'messages in transit, whose receivers are stored: told in the block of the sender',
    [IN_TRANSIT, ['minted', null, null]],
    [OUTDATED, [11, 'minted', 'in transit', 'outdated']],
  ],
  ['one in transit, and the same with its receiver, of a later reading', [IN_TRANSIT, SENT, MINTED], [OUTDATED]],
  ['one in two halves, as in a broken trace', [IN_TRANSIT, ['sent', null, 'tx2'], MINTED], []],
])('links of %s', async (_, links, faults) => {
  expect(await faultsWithin(JUDGED, links)).toEqual(faults);
});

test('early messages of the first block have links, beside those of the block before, which is not stored', async () => {
  const links: readonly Link[] = [SENT, MINTED, ['of the block before', 'tx0', null]];
  expect(await faultsWithin(JUDGED_LATER, links)).toEqual([]);
  expect(await faultsWithin(JUDGED_LATER, links.slice(2))).toEqual([
    [10, 'sent', 'no link', 'missing'],
    [11, 'minted', 'no link', 'missing'],
  ]);
  expect(await faultsWithin(JUDGED_LATER, [['sent', 'tx0', 'tx2'], ...links.slice(1)])).toEqual([
    [10, 'sent', 'tx0', 'wrong'],
  ]);
});
