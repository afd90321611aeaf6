import { describe, expect, test } from 'vitest';
import type { NamedHeader } from '../../src/chain/headers.ts';
import { HeaderPlan } from '../../src/export/header-plan.ts';
import type { LtWindow } from '../../src/export/lt-windows.ts';
import { PAGE_ROWS } from '../../src/export/page-request.ts';
import type { HeaderEnds } from '../../src/export/shard-states.ts';

/** Logical time of a masterchain block. */
const STEP = 1_000;

/** Two shards and the masterchain at some block. */
function stateAt(seqno: number): readonly NamedHeader[] {
  const lt = BigInt(seqno * STEP);
  return [0, 1, 2].map((workchain) => ({
    ...{ id: `${workchain}:0:${seqno}`, workchain, shard: '0', seqno, mcSeqno: seqno, txCount: 0, utime: 0 },
    ...{ startLt: lt, endLt: lt },
  }));
}

function endsOf(from: number, to: number): HeaderEnds {
  const span = { from, to };
  return { span, only: [span], before: stateAt(from - 1), after: stateAt(to) };
}

/** Walks spans as the engine does; `densityAt` gives the headers per masterchain block. */
async function walk(plan: HeaderPlan, spans: readonly HeaderEnds[], densityAt: (seqno: number) => number) {
  const rowsOf = ({ from, to }: LtWindow): number => {
    let rows = 0;
    for (let seqno = Math.ceil(Number(from) / STEP); seqno * STEP <= Number(to); seqno++) rows += densityAt(seqno);
    return Math.round(rows);
  };
  const windows: LtWindow[] = [];
  const rounds: number[] = [];
  let full = 0;
  for (const ends of spans) {
    for await (const round of plan.windowsOf(ends)) {
      rounds.push(round.length);
      for (const window of round) {
        windows.push(window);
        const rows = rowsOf(window);
        if (rows >= PAGE_ROWS) full++;
        plan.learn(window, rows);
      }
    }
    plan.open();
  }
  return { windows, rounds, full };
}

function newPlan(stop = new AbortController().signal): HeaderPlan {
  return new HeaderPlan(stop);
}

describe('windows of headers', () => {
  test('follow each other and cover their span', async () => {
    const { windows } = await walk(newPlan(), [endsOf(101, 5100)], () => 4);
    expect(windows[0]?.from).toBe(100n * BigInt(STEP) + 1n);
    expect(windows.at(-1)?.to).toBe(5100n * BigInt(STEP));
    for (const [i, { from }] of windows.entries()) if (i > 0) expect(from).toBe((windows[i - 1]?.to ?? 0n) + 1n);
  });

  test('are planned by the pages before, in rounds that double', async () => {
    const { rounds } = await walk(newPlan(), [endsOf(101, 5100)], () => 4);
    expect(rounds.slice(0, 4)).toEqual([1, 2, 4, 8]);
  });

  test('take at most two in a hundred requests more than full pages would', async () => {
    const spans = [endsOf(101, 10_100), endsOf(10_101, 20_100)];
    const { windows, full } = await walk(newPlan(), spans, (seqno) => 4 + 0.02 * Math.sin(seqno / 300));
    expect(full).toBe(0);
    expect(windows.length).toBeLessThanOrEqual(Math.ceil((20_000 * 4 * 1.03) / PAGE_ROWS));
  });

  test('leave more room after windows that had more rows than planned', async () => {
    const jumpy = (seqno: number): number => (Math.floor(seqno / 200) % 2 === 0 ? 3.8 : 4.2);
    const { windows, full } = await walk(newPlan(), [endsOf(101, 20_100)], jumpy);
    expect(full).toBeLessThanOrEqual(windows.length / 20);
    expect(windows.length).toBeLessThanOrEqual(Math.ceil((20_000 * 4 * 1.08) / PAGE_ROWS));
  });

  test.each([1.7, 1.84, 2, 3])('stay wide when shards split into %f times as many', async (factor) => {
    const splitting = (seqno: number): number => (seqno % 2000 < 400 ? 4 * factor : 4);
    const { windows } = await walk(newPlan(), [endsOf(101, 20_100)], splitting);
    expect(windows.length).toBeLessThan(((20_000 * 4 * factor) / PAGE_ROWS) * 3);
  });

  test('of a few blocks are one', async () => {
    const { windows } = await walk(newPlan(), [endsOf(101, 300)], () => 4);
    expect(windows.length).toBe(1);
  });

  test('of an empty list end', async () => {
    const { windows } = await walk(newPlan(), [endsOf(101, 50_100)], () => 0);
    expect(windows.length).toBeLessThan(300);
  });

  test('of a second span wait for the first page of the first, or for its end, or for the end of the run', async () => {
    for (const begins of ['page', 'end', 'stop']) {
      const stopping = new AbortController();
      const plan = newPlan(stopping.signal);
      const first = plan.windowsOf(endsOf(101, 5100));
      await first.next();
      let hasBegun = false;
      const second = plan
        .windowsOf(endsOf(5101, 10_100))
        .next()
        .then(() => {
          hasBegun = true;
        });
      await Promise.resolve();
      expect(hasBegun).toBe(false);
      if (begins === 'page') await first.next();
      if (begins === 'end') plan.open();
      if (begins === 'stop') stopping.abort();
      await second;
      expect(hasBegun).toBe(true);
    }
  });
});
