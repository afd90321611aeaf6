import { describe, expect, test } from 'vitest';
import { type Holder, Pool, type Seat } from '../../src/rate-limit/permit-pool.ts';

function holder(priority: Holder['priority'], rps: Holder['rps'] = 10, pid = 1): Holder {
  return { pid, command: 'test', priority, rps };
}

function wait(seat: Seat, ...tickets: number[]): void {
  for (const ticket of tickets) seat.waiting.add(ticket);
}

/** Lets all start that wait, until a time; names the seats in order. */
function drain(pool: Pool, names: ReadonlyMap<Seat, string>, untilMs: number): string[] {
  const order: string[] = [];
  for (let now = 0; now < untilMs; ) {
    const turn = pool.next(now);
    if (turn.kind === 'idle') break;
    if (turn.kind === 'wait') {
      now = turn.until;
      continue;
    }
    pool.start(turn.seat, turn.ticket, now);
    order.push(`${names.get(turn.seat)}${turn.ticket}`);
  }
  return order;
}

describe('priorities', () => {
  test('a waiting interactive request goes first, then the tail, then the backfill', () => {
    const pool = new Pool();
    const backfill = pool.join(holder('backfill'));
    const tail = pool.join(holder('tail'));
    const analyst = pool.join(holder('interactive'));
    wait(backfill, 1, 2);
    wait(tail, 1, 2);
    wait(analyst, 1, 2);
    const names = new Map([
      [backfill, 'b'],
      [tail, 't'],
      [analyst, 'i'],
    ]);
    expect(drain(pool, names, 5000)).toEqual(['i1', 'i2', 't1', 't2', 'b1', 'b2']);
  });

  test('within a priority holders take turns, and each keeps its own order', () => {
    const pool = new Pool();
    const first = pool.join(holder('backfill'));
    const second = pool.join(holder('backfill'));
    wait(first, 1, 2, 3);
    wait(second, 7, 8);
    const names = new Map([
      [first, 'a'],
      [second, 'b'],
    ]);
    expect(drain(pool, names, 5000)).toEqual(['a1', 'b7', 'a2', 'b8', 'a3']);
  });
});

describe('rates of several holders', () => {
  test('the budget is the highest that anybody was told', () => {
    const pool = new Pool();
    const slow = pool.join(holder('backfill', 3));
    const fast = pool.join(holder('backfill', 12));
    expect(pool.rateAt(0)).toBe(12);
    pool.leave(fast);
    expect(pool.rateAt(0)).toBe(3);
    expect(pool.seats).toEqual([slow]);
  });

  test('nobody goes faster than it was told itself, and others use what is left', () => {
    const pool = new Pool();
    const slow = pool.join(holder('interactive', 2));
    const fast = pool.join(holder('backfill', 10));
    wait(slow, ...Array(100).keys());
    wait(fast, ...Array(100).keys());
    const names = new Map([
      [slow, 's'],
      [fast, 'f'],
    ]);
    const order = drain(pool, names, 5000);
    expect(order.filter((name) => name.startsWith('s')).length).toBeLessThanOrEqual(10);
    expect(order.length).toBeGreaterThanOrEqual(48);
  });

  test('a new leader goes on at the pace of the one before, without a burst', () => {
    const pool = new Pool();
    const seat = pool.join(holder('backfill', 10));
    pool.resume(1000);
    wait(seat, 1);
    expect(pool.next(1000)).toMatchObject({ kind: 'wait' });
    const turn = pool.next(1000);
    if (turn.kind === 'wait') expect(Math.round(turn.until)).toBe(1102);
  });
});
