import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Header } from '../../src/chain/headers.ts';
import { type PipelinePlan, planRun, type RunPlan } from '../../src/export/plan.ts';
import { planRows } from '../../src/export/row-packs.ts';
import { run } from '../../src/export/run.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

/** A masterchain block with one header, of so many transactions. */
function headerOf(mcSeqno: number, txCount: number): Header {
  const startLt = BigInt(mcSeqno) * 1000n;
  const block = { workchain: -1, shard: '-9223372036854775808', seqno: mcSeqno };
  return { ...block, mcSeqno, txCount, startLt, endLt: startLt + 900n, utime: mcSeqno };
}

describe('pages that are planned from headers', () => {
  const planOf = async (counts: readonly number[], mode: 'window' | 'masterchain') => {
    const headers = new Map(counts.map((count, at) => [at + 1, [headerOf(at + 1, count)]]));
    const stop = new AbortController().signal;
    const context = { mode, requestsPerSpan: 100, stop, pipeline: { name: 'transactions' } };
    const planned = [];
    const sink = { headers: async () => headers };
    for await (const each of planRows({ ...context, sink }, [{ from: 1, to: counts.length }])) planned.push(each);
    return planned.map(({ own, pages }) => [own.reduce((sum, { txCount }) => sum + txCount, 0), pages.length]);
  };

  test('are as few as full pages allow', async () => {
    expect(await planOf([400, 400, 400], 'window')).toEqual([[1200, 2]]);
    expect(await planOf([1000], 'window')).toEqual([[1000, 1]]);
  });

  test('are one for each block, and one more after a full one, block by block', async () => {
    expect(await planOf([400, 400, 1000], 'masterchain')).toEqual([[1800, 4]]);
  });

  test('need the headers of every block', async () => {
    const stop = new AbortController().signal;
    const context = { mode: 'auto', requestsPerSpan: 100, stop, pipeline: { name: 'transactions' } } as const;
    const planned = planRows({ ...context, sink: { headers: async () => new Map() } }, [{ from: 7, to: 8 }]);
    await expect(planned.next()).rejects.toThrow(/expected committed headers of block 7, got none/);
  });
});

describe('a quote beside the run that follows', () => {
  let sandbox: TestSandbox;
  const warehouse = join(freshFolder(), 'w');
  beforeAll(async () => {
    sandbox = await startTestSandbox({ blocks: 6000, activity: 0.5 });
  });
  afterAll(() => sandbox.close());

  const options = (...pipelines: readonly string[]) => ({
    ...{ pipelines, network: sandbox.url, range: '1000:2999', warehouse, rps: 1_000_000 },
  });
  const of = (plan: RunPlan, name: string): PipelinePlan | undefined =>
    plan.pipelines.find(({ pipeline }) => pipeline === name);

  test('is close where headers and lists are sampled, by few requests', async () => {
    const plan = await planRun(options('transactions', 'jetton_transfers'));
    expect(sandbox.requests.stats().requests).toBeLessThanOrEqual(8);
    expect(plan).toMatchObject({ basis: 'estimate', unknown: [] });
    expect(plan.pipelines.map(({ basis }) => basis)).toEqual(['sample', 'sample', 'sample']);
    sandbox.requests.reset();
    const blocks = await run(options('blocks'));
    const headers = of(plan, 'blocks');
    expect((headers?.rows ?? 0) / (blocks.rows['blocks'] ?? 0)).toBeCloseTo(1, 0);
    const sum = Object.values(headers?.requests ?? {}).reduce((all, count) => all + count, 1);
    expect(Math.abs(sum - blocks.requests)).toBeLessThanOrEqual(3);
  });

  test('is exact where the headers are in the warehouse', async () => {
    sandbox.requests.reset();
    const plan = await planRun(options('transactions'));
    expect(sandbox.requests.stats().requests).toBe(0);
    expect(plan.basis).toBe('headers');
    const report = await run(options('transactions'));
    expect(report).toMatchObject({ complete: true, requests: plan.requests });
    expect(report.rows['transactions']).toBe(of(plan, 'transactions')?.rows);
    // As many free bytes, and a third more, are asked for before the run.
    const reader = await openWarehouse(warehouse);
    const ledger = (await reader.ledger()).filter(({ pipeline }) => pipeline === 'transactions');
    await reader.close();
    const files = ledger.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    expect(Math.abs(plan.bytes / bytes - 1)).toBeLessThan(0.15);
  });

  test('is close for a list, and counts the keys of a lookup', async () => {
    const list = await planRun(options('jetton_transfers'));
    const transfers = await run(options('jetton_transfers'));
    expect(transfers.complete).toBe(true);
    expect(Math.abs(list.requests - transfers.requests)).toBeLessThanOrEqual(3);
    const keys = await planRun(options('account_latest'));
    expect(keys.pipelines.at(-1)?.basis).toBe('keys');
    const lookup = await run(options('account_latest'));
    expect(lookup.complete).toBe(true);
    // One more for the keys without a row, which are requested again.
    expect(lookup.requests - keys.requests).toBe(1);
  });

  test('rests on earlier runs where there are any', async () => {
    sandbox.requests.reset();
    const plan = await planRun({ ...options('jetton_transfers'), range: '3000:3999' });
    expect(of(plan, 'jetton_transfers')).toMatchObject({ basis: 'history', rows: expect.any(Number) });
    expect(sandbox.requests.entries().filter(({ path }) => path === 'jetton/transfers')).toEqual([]);
    expect(plan.minutes['1']).toBeCloseTo(plan.requests / 60, 1);
    expect(plan.bytes).toBeGreaterThan(0);
  });

  test('says the bytes of merged files, whatever small commits take', async () => {
    const small = join(freshFolder(), 'w');
    await run({ ...options('transactions'), range: '1000:1299', warehouse: small });
    const after = await planRun({ ...options('transactions'), range: '1300:1399', warehouse: small });
    const before = await planRun({
      ...options('transactions'),
      range: '1300:1399',
      warehouse: join(freshFolder(), 'w'),
    });
    const bytesOfRow = (plan: RunPlan): number => {
      const { bytes = 0, rows = 0 } = of(plan, 'transactions') ?? {};
      return bytes / rows;
    };
    expect(bytesOfRow(after)).toBe(bytesOfRow(before));
  });
});
