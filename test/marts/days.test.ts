import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDaySpans } from '../../src/chain/day-spans.ts';
import { isSealed } from '../../src/marts/mart-inputs.ts';
import { Database } from '../../src/sql/database.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';

let database: Database;
beforeAll(async () => {
  database = await Database.open();
});
afterAll(() => database.close());

/** Seconds from midnight of 2026-05-02 of masterchain blocks, by seqno; each includes a shard block of the second before. */
async function daysOf(blocks: readonly (readonly [seqno: number, second: number])[]) {
  const start = Date.UTC(2026, 4, 2) / 1000;
  const rows = blocks.flatMap(([seqno, second]) => [
    `(-1, ${seqno}, ${seqno}, ${start + second})`,
    `(0, ${seqno}, ${seqno}, ${start + second - 1})`,
  ]);
  await database.run(
    `CREATE OR REPLACE TABLE _headers AS SELECT *, make_timestamp(gen_utime::BIGINT * 1000000)::DATE AS block_date
     FROM (VALUES ${rows.join(', ')}) AS b(workchain, seqno, mc_block_seqno, gen_utime)`,
  );
  return Object.fromEntries(await readDaySpans(database.query));
}

const DAY = 86_400;

describe('a day', () => {
  test('is whole between blocks of the day before and of the day after; late shard blocks belong to its span', async () => {
    expect(
      await daysOf([
        [9, -3],
        [10, 0],
        [11, 50_000],
        [12, DAY - 2],
        [13, DAY],
      ]),
    ).toEqual({
      '2026-05-01': { from: 9, to: 10, isWhole: false },
      '2026-05-02': { from: 10, to: 13, isWhole: true },
      '2026-05-03': { from: 13, to: 13, isWhole: false },
    });
  });

  test('is whole from the first block of the chain on', async () => {
    expect(
      (
        await daysOf([
          [1, 40_000],
          [2, 40_003],
          [3, DAY + 1],
        ])
      )['2026-05-02'],
    ).toMatchObject({ isWhole: true });
  });

  test('is whole when its first block stands no further from midnight than blocks stand from each other', async () => {
    expect(
      (
        await daysOf([
          [10, 4],
          [11, 9],
          [12, DAY],
        ])
      )['2026-05-02'],
    ).toMatchObject({ isWhole: true });
    expect(
      (
        await daysOf([
          [10, 600],
          [11, 605],
          [12, DAY],
        ])
      )['2026-05-02'],
    ).toMatchObject({ isWhole: false });
  });

  test('is not whole without a block of the next day, or with a hole at midnight', async () => {
    expect(
      (
        await daysOf([
          [9, -3],
          [10, 0],
          [11, DAY - 2],
        ])
      )['2026-05-02'],
    ).toMatchObject({ isWhole: false });
    expect(
      (
        await daysOf([
          [9, -3],
          [10, 0],
          [11, DAY - 9],
          [14, DAY + 9],
        ])
      )['2026-05-02'],
    ).toMatchObject({ isWhole: false });
  });
});

describe('rows are sealed', () => {
  const entry = (
    pipeline: string,
    from: number,
    to: number,
    verdict: LedgerEntry['verdict'] = 'sealed',
  ): LedgerEntry => ({
    ...{
      format: 1,
      number: 1,
      id: `${pipeline}-${from}`,
      network: 'sandbox',
      pipeline,
      version: 1,
      span: { from, to },
      verdict,
    },
    ...{ tables: {}, requests: 0, retries: 0, supersedes: [], committedAt: '' },
  });

  test('where every pipeline behind them has sealed the span', () => {
    const ledger = [entry('blocks', 1, 20), entry('transactions', 1, 9), entry('transactions', 10, 20)];
    expect(isSealed(ledger, ['blocks', 'transactions'], { from: 5, to: 15 })).toBe(true);
    expect(isSealed(ledger, ['blocks', 'transactions'], undefined)).toBe(true);
  });

  test('not where one lacks a block, or has a record in quarantine', () => {
    const lacking = [entry('blocks', 1, 20), entry('transactions', 1, 9), entry('transactions', 11, 20)];
    expect(isSealed(lacking, ['blocks', 'transactions'], { from: 5, to: 15 })).toBe(false);
    const bad = [
      entry('transactions', 1, 9),
      entry('transactions', 10, 10, 'quarantined'),
      entry('transactions', 11, 20),
    ];
    expect(isSealed(bad, ['transactions'], { from: 5, to: 15 })).toBe(false);
    expect(isSealed(bad, ['transactions'], undefined)).toBe(false);
  });
});
