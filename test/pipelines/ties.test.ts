import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const TIE = 260;
const RANGE = '256:266';
let wanted: string | undefined;

const sandbox = await startTestSandbox({ blocks: 350, tieSeqno: TIE });

const OPCODE = 0x0f8a7ea5;

test('3,100 transfers at one logical time come whole and once, without an offset, where transactions are exported', async () => {
  const warehouse = join(freshFolder(), 'w');
  const options = { network: sandbox.url, warehouse };
  await run({ ...options, pipelines: ['transactions'], range: '250:270' });
  sandbox.requests.reset();
  const { complete } = await run({ ...options, pipelines: ['jetton_transfers'], range: RANGE });
  expect(complete).toBe(true);
  expect(sandbox.requests.entries().filter((entry) => entry.query.includes('offset='))).toEqual([]);
  const [most] = await query(
    warehouse,
    'SELECT count(*) n FROM jetton_transfers GROUP BY tx_lt ORDER BY n DESC LIMIT 1',
  );
  expect(Number(most?.[0])).toBeGreaterThan(3000);
  expect(await query(warehouse, 'SELECT count(*) - count(DISTINCT tx_hash) FROM jetton_transfers')).toEqual([['0']]);
  // The order is told by the opcode of what the wallet received; only aborted ones are not listed.
  const lost = `SELECT count(*) FROM transactions t JOIN messages m ON m.tx_hash = t.hash AND m.direction = 'in'
    ANTI JOIN jetton_transfers j ON j.tx_hash = t.hash
    WHERE m.opcode = ${OPCODE} AND NOT t.aborted
      AND t.lt BETWEEN (SELECT min(tx_lt) FROM jetton_transfers) AND (SELECT max(tx_lt) FROM jetton_transfers)`;
  expect(await query(warehouse, lost)).toEqual([['0']]);
  wanted = (await hashTables(warehouse))['jetton_transfers'];
});

test('without exported transactions the accounts come from the source, and transfers still without an offset', async () => {
  const warehouse = join(freshFolder(), 'w');
  sandbox.requests.reset();
  await run({ network: sandbox.url, warehouse, pipelines: ['jetton_transfers'], range: RANGE });
  const asked = sandbox.requests.entries().filter((entry) => entry.query.includes('offset='));
  expect(asked.filter(({ path }) => path !== 'transactions')).toEqual([]);
  // The same rows as before, though the source gave them in another order.
  expect((await hashTables(warehouse))['jetton_transfers']).toBe(wanted);
});

test('messages of one logical time are read page by page, each page once', async () => {
  const warehouse = join(freshFolder(), 'w');
  sandbox.requests.reset();
  const { complete } = await run({ network: sandbox.url, warehouse, pipelines: ['message_links'], range: `${TIE}` });
  expect(complete).toBe(true);
  const [all] = await query(
    warehouse,
    `SELECT max(n), sum(n // 1000), sum(n - keys) FROM (
       SELECT count(*) AS n, count(DISTINCT (msg_hash, in_msg_tx_hash)) AS keys FROM message_links GROUP BY created_lt)`,
  );
  const [most, followed, twice] = (all ?? []).map(Number);
  expect([Number(most) > 3000, twice]).toEqual([true, 0]);
  const pages = sandbox.requests.entries().filter((entry) => entry.query.includes('offset='));
  expect(new Set(pages.map((entry) => entry.query)).size).toBe(pages.length);
  expect(pages).toHaveLength(followed ?? 0);
});
