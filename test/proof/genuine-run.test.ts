import { beforeAll, describe, expect, test } from 'vitest';
import { totalSize } from '../../src/core/span.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { type RunEvent, type RunReport, run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { verifyWarehouse } from '../../src/verify/verify.ts';
import { spansIn } from '../../src/warehouse/query/coverage.ts';
import { hasShared } from '../fixtures.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import type { Json } from './genuine.ts';
import { type GenuineServer, startGenuineServer } from './genuine-server.ts';

interface Ran {
  readonly warehouse: string;
  readonly report: RunReport;
  readonly problems: readonly string[];
}

async function runOver(server: GenuineServer, warehouse = freshFolder()): Promise<Ran> {
  const problems: string[] = [];
  const report = await run({
    ...{ network: server.url, range: server.range, warehouse, pipelines: ['transactions'], walk: 'masterchain' },
    onEvent: (event: RunEvent) => {
      if (event.event === 'problem') problems.push(event.message);
    },
  });
  return { warehouse, report, problems };
}

async function query(warehouse: string, sql: string): Promise<readonly unknown[]> {
  const opened = await openWarehouse(warehouse);
  try {
    return (await opened.query(sql)).rows;
  } finally {
    await opened.close();
  }
}

/** Content that verify --deep finds wrong. The chains of accounts have gaps: the transactions are a few of many. */
async function findings(warehouse: string): Promise<readonly string[]> {
  const found: string[] = [];
  await verifyWarehouse({
    ...{ warehouse, deep: true },
    onEvent: (event) => {
      if (event.event === 'finding' && event.kind === 'content') found.push(event.expected);
    },
  });
  return found;
}

/** Changes a number of the description by one. */
function alter(transaction: Json): void {
  const { storage_ph: storage } = transaction['description'] as { storage_ph: { storage_fees_collected: string } };
  storage.storage_fees_collected = String(BigInt(storage.storage_fees_collected) + 1n);
}

describe.skipIf(!hasShared)('a run over genuine transactions in ../shared/fixtures', () => {
  let server: GenuineServer;
  let sound: Ran;
  beforeAll(async () => {
    server = await startGenuineServer();
    sound = await runOver(server);
  });

  test('proves all of them, and says which errors of servers it corrected', () => {
    expect(sound.problems).toEqual([]);
    expect(sound.report).toMatchObject({ complete: true, unproven: {} });
    expect(sound.report.content).toEqual({
      ...{ agrees: 376, 'gas-swapped': 1, 'no-credit-phase': 2, 'skip-reason': 2 },
      ...{ 'wrong-opcode': 2, 'unknown-messages': 26 },
    });
  });

  test('stores the true value, and the one that was received in _extra', async () => {
    const { warehouse } = sound;
    const credits = `SELECT credit, _extra->>'$."/description/credit_ph/credit"' FROM transactions
      WHERE _extra LIKE '%credit_ph/credit%' ORDER BY 2`;
    expect(await query(warehouse, credits)).toEqual([
      [null, '14424983580017492223'],
      [null, '16298225961743024383'],
    ]);
    const skipped = `SELECT DISTINCT compute_skipped, skipped_reason, _extra->>'$."/description/compute_ph/skip_reason"'
      FROM transactions WHERE _extra LIKE '%skip_reason%' ORDER BY 2`;
    expect(await query(warehouse, skipped)).toEqual([
      [true, 'no_gas', 'no_gas'],
      [true, 'no_state', 'no_state'],
    ]);
    const opcodes = `SELECT DISTINCT opcode, _extra->>'$."/opcode"' FROM messages WHERE _extra LIKE '%/opcode%'`;
    expect(await query(warehouse, opcodes)).toEqual([[0x24, '0x7362d09c']]);
  });

  test('agrees with the stored rows, read back from files', async () => {
    expect(await findings(sound.warehouse)).toEqual([]);
  });

  test('proves those that were emulated in the same way, stored and read back', async () => {
    const { report, problems, warehouse } = await runOver(await startGenuineServer(true));
    expect([report.content, problems, report.unproven]).toEqual([{ agrees: 36, 'unknown-messages': 4 }, [], {}]);
    expect(await findings(warehouse)).toEqual([]);
  });

  test('requests a block with altered content twice, then stores it as unproven; it and verify --deep name each transaction', async () => {
    const altered = server.transactions.filter((_, index) => index % 11 === 4);
    for (const transaction of altered) alter(transaction);
    server.requests.clear();
    const { report, problems, warehouse } = await runOver(server);
    const blocks = new Set(altered.map((transaction) => Number(transaction['mc_block_seqno'])));
    expect(report.complete).toBe(true);
    expect(report.content['contradicted']).toBe(altered.length);
    expect(report.content['agrees']).toBe(376 - altered.filter(isSound).length);
    for (const { hash } of altered) expect(problems.filter((text) => text.includes(String(hash))).length).toBe(1);
    expect(problems.length).toBe(blocks.size);
    expect(totalSize(spansIn(report.unproven['transactions'] ?? []))).toBe(blocks.size);
    for (const [seqno, count] of server.requests) expect([seqno, count]).toEqual([seqno, blocks.has(seqno) ? 2 : 1]);
    expect(await query(warehouse, 'SELECT count(*)::INTEGER FROM transactions')).toEqual([[381]]);
    const named = altered.map(({ hash }) => `content with hash ${hash}`);
    expect((await findings(warehouse)).toSorted()).toEqual(named.toSorted());
    expect((await verifyWarehouse({ warehouse })).unproven).toEqual(report.unproven);

    const warnings: string[] = [];
    const counting = 'SELECT count(*) FROM transactions';
    const warned = await open({ warehouse, onWarning: (message) => warnings.push(message) });
    await warned.query(counting);
    await warned.close();
    expect(warnings.join()).toMatch(/^transactions: unproven \d.*, \d+ blocks \(content contradicts hashes\)/);
    const strict = await open({ warehouse, strict: true });
    await expect(strict.query(counting)).rejects.toMatchObject({ code: 'missing' });
    await strict.query('SELECT count(*) FROM blocks');
    await strict.close();
  });

  test('readBatches hands out the rows, and ends with an error if content contradicts hashes', async () => {
    const batches = readBatches({ network: server.url, range: server.range, walk: 'masterchain' });
    let rows = 0;
    const reading = (async () => {
      for await (const { table, batch } of batches) if (table === 'transactions') rows += batch.numRows;
    })();
    await expect(reading).rejects.toMatchObject({ code: 'content', message: expect.stringContaining('other content') });
    expect(rows).toBe(381);
  });
});

/** Those that agree without a correction. */
function isSound(transaction: Json): boolean {
  return !JSON.stringify(transaction).includes('skip_reason');
}
