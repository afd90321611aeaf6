import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { firstRetainedDay, forgetOld, type RetentionOptions } from '../../src/verify/retention.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { closing, freshFolder } from '../scratch.ts';
import { copyOf, verify } from './support.ts';

const PIPELINES = ['transactions', 'blocks', 'traces', 'actions', 'message_links', 'account_latest'];
/** Midnights stand between blocks 9 and 10, between 441 and 442, and so on. */
const BLOCKS = '1:19,432:451';
const FAR = Date.UTC(2099, 0, 1);

const sandbox = await startTestSandbox({ blocks: 900, blockTimeMs: 200_000 });

const bring = (warehouse: string, range: string) =>
  run({ pipelines: PIPELINES, network: sandbox.url, range, warehouse });

test('the day in which the retention period starts is kept completely', () => {
  expect(firstRetainedDay(90, Date.UTC(2026, 4, 4, 3, 15))).toBe('2026-02-03');
  expect(firstRetainedDay(1, Date.UTC(2026, 4, 4))).toBe('2026-05-03');
  expect(firstRetainedDay(1, Date.UTC(2026, 4, 4) - 1)).toBe('2026-05-02');
});

describe.each(['w', 'w.duckdb'])('of %s, rows that are too old', (name) => {
  let source: string;
  let before: Awaited<ReturnType<typeof hashTables>>;

  beforeAll(async () => {
    source = join(freshFolder(), name);
    await bring(source, BLOCKS);
    before = await hashTables(source);
  });

  const copy = (): string => copyOf(source);
  const retain = (warehouse: string, more: Partial<RetentionOptions> = {}) =>
    forgetOld({ warehouse, pipelines: PIPELINES, keepDays: 1, now: FAR, ...more });
  const sinceMidnight = (path: string) =>
    query(
      path,
      `select count(*), count(distinct mc_block_seqno), sum(total_fees), sum(lt), (select count(*) from traces where mc_seqno_end >= 10),
        (select count(*) from blocks where mc_block_seqno >= 10), (select count(*) from message_links)
        from transactions where mc_block_seqno >= 10`,
    );

  test('are removed by whole days, from all pipelines at once, and the rest is proven', async () => {
    const path = copy();
    const report = await retain(path);
    expect(report).toMatchObject({ event: 'forgotten', firstDay: '2026-05-02', upTo: 9 });
    const span = [{ from: 1, to: 9 }];
    expect(report.spans).toEqual({ transactions: span, blocks: span, traces: span, actions: span });
    expect(report.rows['transactions']).toBeGreaterThan(100);
    expect(await query(path, 'select count(*) from transactions where mc_block_seqno < 10')).toEqual([['0']]);
    expect(await query(path, 'select min(block_date) from blocks where workchain = -1')).toEqual([['2026-05-02']]);
    expect(await sinceMidnight(path)).toEqual(await sinceMidnight(source));
    const { report: verified, kinds } = await verify(path, { deep: true });
    expect({ kinds, proven: verified.proven }).toEqual({ kinds: [], proven: true });
    expect((await retain(path)).spans).toEqual({});
    await bring(path, BLOCKS);
    expect(await hashTables(path)).toEqual({
      ...before,
      account_latest: expect.anything(),
      lookups: expect.anything(),
    });
  });

  if (name === 'w.duckdb')
    test('leave space in the file for new ones', async () => {
      const path = copy();
      const sizes: number[] = [];
      for (let round = 0; round < 4; round++) {
        await retain(path, { pipelines: ['transactions', 'blocks'] });
        await run({ pipelines: ['transactions'], network: sandbox.url, range: BLOCKS, warehouse: path });
        sizes.push(statSync(path).size);
      }
      const [, second = 0, , last = 0] = sizes;
      expect(last).toBeLessThanOrEqual(1.1 * second);
    });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('stay if they cannot be separated from newer ones or belong to no block, and are removed later', async () => {
    const path = copy();
    const report = await retain(path);
    expect(report.retained).toEqual([{ pipeline: 'message_links', why: 'crossing', spans: [{ from: 1, to: 19 }] }]);
    expect(report.withoutBlocks).toEqual(['account_latest']);
    await bring(path, '869:878');
    const later = await retain(path);
    expect(later).toMatchObject({ firstDay: '2026-05-03', upTo: 441 });
    expect(later.spans).toMatchObject({
      message_links: [{ from: 1, to: 19 }],
      transactions: [
        { from: 10, to: 19 },
        { from: 432, to: 441 },
      ],
    });
    expect(later.retained).toEqual([{ pipeline: 'message_links', why: 'crossing', spans: [{ from: 432, to: 451 }] }]);
    expect((await verify(path, { deep: true })).kinds).toEqual([]);
  });

  test('are counted from the newest block or from the clock, whichever is earlier', async () => {
    const path = copy();
    const counts = await retain(path, { isDry: true, now: Date.UTC(2026, 4, 3, 1) });
    expect(counts).toMatchObject({ event: 'planned', firstDay: '2026-05-02', upTo: 9 });
    const behind = await retain(path, { now: Date.UTC(2026, 4, 2, 23) });
    expect(behind).toMatchObject({ event: 'planned', firstDay: '2026-05-01', upTo: undefined, spans: {} });
    expect(await hashTables(path)).toEqual(before);
    await expect(retain(path, { keepDays: 0 })).rejects.toThrow('usage: expected at least one day to keep, got 0');
  });

  test('stay from `keepFrom` on, and if other rows need them', async () => {
    const path = copy();
    expect((await retain(path, { isDry: true, keepFrom: 5 })).spans['transactions']).toEqual([{ from: 1, to: 4 }]);
    expect((await retain(path, { isDry: true, keepFrom: 1 })).spans).toEqual({});
    const alone = await retain(path, { pipelines: ['blocks', 'actions'] });
    expect(alone.retained).toEqual([
      { pipeline: 'blocks', why: 'needed', by: ['transactions'], spans: [{ from: 1, to: 9 }] },
    ]);
    expect(Object.keys(alone.spans)).toEqual(['actions']);
  });

  test('stay readable for those who opened the warehouse before', async () => {
    const path = copy();
    const { tables } = await loadRegistry();
    const reader = closing(await openReader(path, tables, { isPinned: true }));
    const count = () => reader.query('SELECT count(*), sum(lt) FROM transactions WHERE mc_block_seqno < 10');
    const had = (await count()).rows;
    await retain(path);
    expect((await count()).rows).toEqual(had);
  });
});
