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
import { type GenuineServer, startGenuineServers } from './genuine-server.ts';

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

async function runOverEach(servers: readonly GenuineServer[]): Promise<readonly Ran[]> {
  const runs: Ran[] = [];
  for (const server of servers) runs.push(await runOver(server));
  return runs;
}

/** Transactions by their proof, in all runs. */
function contentsOf(runs: readonly Ran[]): Readonly<Record<string, number>> {
  const contents: Record<string, number> = {};
  for (const { report } of runs) {
    for (const [content, count] of Object.entries(report.content)) contents[content] = (contents[content] ?? 0) + count;
  }
  return contents;
}

/** Rows of a query of each warehouse. */
async function queryEach(runs: readonly Ran[], sql: string): Promise<readonly unknown[]> {
  return (await Promise.all(runs.map(({ warehouse }) => query(warehouse, sql)))).flat();
}

describe.skipIf(!hasShared)('a run over genuine transactions in ../shared/fixtures', () => {
  let servers: readonly GenuineServer[];
  let sound: readonly Ran[];
  beforeAll(async () => {
    servers = await startGenuineServers();
    sound = await runOverEach(servers);
  });

  test('proves all of them, and says which errors of servers it corrected', () => {
    for (const { problems, report } of sound) {
      expect(problems).toEqual([]);
      expect(report).toMatchObject({ complete: true, unproven: {} });
    }
    expect(contentsOf(sound)).toEqual({
      ...{ agrees: 494, 'gas-swapped': 4, 'no-credit-phase': 2, 'skip-reason': 2 },
      ...{ 'wrong-opcode': 2, 'unknown-messages': 27 },
    });
  });

  test('stores the true value, and the one that was received in _extra', async () => {
    const credits = `SELECT credit, _extra->>'$."/description/credit_ph/credit"' FROM transactions
      WHERE _extra LIKE '%credit_ph/credit%' ORDER BY 2`;
    expect(await queryEach(sound, credits)).toEqual([
      [null, '14424983580017492223'],
      [null, '16298225961743024383'],
    ]);
    const skipped = `SELECT DISTINCT compute_skipped, skipped_reason, _extra->>'$."/description/compute_ph/skip_reason"'
      FROM transactions WHERE _extra LIKE '%skip_reason%' ORDER BY 2`;
    expect(await queryEach(sound, skipped)).toEqual([
      [true, 'no_gas', 'no_gas'],
      [true, 'no_state', 'no_state'],
    ]);
    const opcodes = `SELECT DISTINCT opcode, _extra->>'$."/opcode"' FROM messages WHERE _extra LIKE '%/opcode%'`;
    expect(await queryEach(sound, opcodes)).toEqual([[0x24, '0x7362d09c']]);
  });

  test('agrees with the stored rows, read back from files', async () => {
    for (const { warehouse } of sound) expect(await findings(warehouse)).toEqual([]);
  });

  test('proves those that were emulated in the same way, stored and read back', async () => {
    const runs = await runOverEach(await startGenuineServers(true));
    expect(contentsOf(runs)).toEqual({ agrees: 36, 'unknown-messages': 4 });
    for (const { report, problems, warehouse } of runs) {
      expect([problems, report.unproven]).toEqual([[], {}]);
      expect(await findings(warehouse)).toEqual([]);
    }
  });

  test('requests a block with altered content twice, then stores it as unproven; it and verify --deep name each transaction', async () => {
    const altered = servers.flatMap(({ transactions }) => transactions).filter((_, index) => index % 11 === 5);
    for (const transaction of altered) alter(transaction);
    const runs: Ran[] = [];
    for (const server of servers) {
      server.requests.clear();
      const own = altered.filter((transaction) => server.transactions.includes(transaction));
      const ran = await runOver(server);
      const { report, problems, warehouse } = ran;
      const blocks = new Set(own.map((transaction) => Number(transaction['mc_block_seqno'])));
      expect(report.complete).toBe(true);
      expect(report.content['contradicted']).toBe(own.length);
      for (const { hash } of own) expect(problems.filter((text) => text.includes(String(hash))).length).toBe(1);
      expect(problems.length).toBe(blocks.size);
      expect(totalSize(spansIn(report.unproven['transactions'] ?? []))).toBe(blocks.size);
      for (const [seqno, count] of server.requests) expect([seqno, count]).toEqual([seqno, blocks.has(seqno) ? 2 : 1]);
      const named = own.map(({ hash }) => `content with hash ${hash}`);
      expect((await findings(warehouse)).toSorted()).toEqual(named.toSorted());
      expect((await verifyWarehouse({ warehouse })).unproven).toEqual(report.unproven);
      runs.push(ran);
    }
    const contents = contentsOf(runs);
    const proven = ['agrees', 'gas-swapped', 'no-credit-phase', 'skip-reason'].map((content) => contents[content] ?? 0);
    expect([altered.length, proven.reduce((sum, count) => sum + count)]).toEqual([46, 456]);
    const counts = await queryEach(runs, 'SELECT count(*)::INTEGER FROM transactions');
    expect(counts).toEqual([[378], [13], [111]]);

    const warnings: string[] = [];
    const counting = 'SELECT count(*) FROM transactions';
    for (const { warehouse } of runs) {
      const warned = await open({ warehouse, onWarning: (message) => warnings.push(message) });
      await warned.query(counting);
      await warned.close();
      const strict = await open({ warehouse, strict: true });
      await expect(strict.query(counting)).rejects.toMatchObject({ code: 'missing' });
      await strict.query('SELECT count(*) FROM blocks');
      await strict.close();
    }
    expect(warnings).toEqual([
      expect.stringMatching(/^transactions: unproven 1005,.*, 24 blocks \(content contradicts hashes\)$/),
      'transactions: unproven 1001,1005 (content contradicts hashes)',
      'transactions: unproven 1008,1016,1027,1030,1033,1039,1045:1048 (content contradicts hashes)',
    ]);
  });

  test('readBatches hands out the rows, and ends with an error if content contradicts hashes', async () => {
    let rows = 0;
    for (const { url, range } of servers) {
      const reading = (async () => {
        for await (const { table, batch } of readBatches({ network: url, range, walk: 'masterchain' })) {
          if (table === 'transactions') rows += batch.numRows;
        }
      })();
      await expect(reading).rejects.toMatchObject({
        code: 'content',
        message: expect.stringContaining('other content'),
      });
    }
    expect(rows).toBe(502);
  });
});
