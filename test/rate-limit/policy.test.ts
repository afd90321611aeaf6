import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freshLimit, type Limit, parseLimit } from '../../src/rate-limit/limit.ts';
import { aliveHolders, rateAt, removeHolder, slow, take } from '../../src/rate-limit/policy.ts';
import type { Priority } from '../../src/rate-limit/priority.ts';
import { callerOf } from './simulation.ts';

type Rps = number | 'auto' | undefined;

/** Asks for one start; if there is none yet, later. Returns its time. */
function takeOne(limit: Limit, now: number, rps: Rps, id = 'a'): readonly [Limit, number] {
  let [state, time] = [limit, now];
  for (;;) {
    const [next, { starts, nextAt }] = take(state, time, id, callerOf(rps), 1);
    state = next;
    if (starts[0] !== undefined) return [state, starts[0]];
    time = Math.max(time, nextAt);
  }
}

/** Starts of requests that come up at the given times, some milliseconds late. */
function startsOf(
  limit: Limit,
  rps: Rps,
  demands: readonly { readonly idle: number; readonly late: number }[],
): number[] {
  let [state, now] = [limit, 0];
  return demands.map(({ idle, late }) => {
    let start: number;
    [state, start] = takeOne(state, now + idle + late, rps);
    now = Math.max(now + idle + late, start);
    return start;
  });
}

function mostInOneSecond(starts: readonly number[]): number {
  let first = 0;
  return starts.reduce((most, start, last) => {
    while ((starts[first] ?? 0) <= start - 1000) first++;
    return Math.max(most, last - first + 1);
  }, 0);
}

function steady(count: number, late = [0]): { readonly idle: number; readonly late: number }[] {
  return Array.from({ length: count }, (_, index) => ({ idle: 0, late: late[index % late.length] ?? 0 }));
}

function refuse(limit: Limit, startedAt: number, now: number, holdMs?: number): Limit {
  return slow(limit, now, { startedAt, holdMs, wall: 0 });
}

const anyRate = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.double({ min: 0.2, max: 50, noNaN: true }));

describe('a given rate', () => {
  test('spreads requests evenly over the second', () => {
    const starts = startsOf(freshLimit(''), 10, steady(21));
    const gaps = starts.slice(1).map((start, index) => Math.round(start - (starts[index] ?? 0)));
    expect(new Set(gaps)).toEqual(new Set([102]));
  });

  test('no second ever holds more starts than the limit, rounded up', () => {
    const demand = fc.record({
      idle: fc.oneof(fc.constant(0), fc.nat(3000)),
      late: fc.double({ min: 0, max: 30, noNaN: true }),
    });
    fc.assert(
      fc.property(
        anyRate,
        fc.array(demand, { maxLength: 400 }),
        fc.array(fc.nat(399), { maxLength: 5 }),
        (rps, demands, refused) => {
          let [limit, now] = [freshLimit(''), 0];
          const starts: number[] = [];
          for (const [index, { idle, late }] of demands.entries()) {
            let start: number;
            [limit, start] = takeOne(limit, now + idle + late, rps);
            now = Math.max(now + idle + late, start);
            starts.push(start);
            expect(rateAt(limit, now)).toBeLessThanOrEqual(rps);
            if (refused.includes(index)) limit = refuse(limit, now, now);
          }
          expect(mostInOneSecond(starts)).toBeLessThanOrEqual(Math.ceil(rps));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('under steady demand 97 % of it is used, also if processes are up to 3 ms late', () => {
    for (const rps of [1, 10, 25, 100]) {
      const used = startsOf(freshLimit(''), rps, steady(rps * 61, [0.4, 1.1, 3, 0.2, 2])).filter(
        (at) => at < 60_000,
      ).length;
      expect(used, `at ${rps} per second`).toBeGreaterThanOrEqual(Math.floor(rps * 60 * 0.97));
      expect(used).toBeLessThanOrEqual(rps * 60);
    }
  });

  test('beyond what can be counted takes neither time nor memory', () => {
    const [limit, { starts }] = take(freshLimit(''), 5, 'a', callerOf(1e12), 1000);
    expect(starts).toHaveLength(1000);
    expect(JSON.stringify(limit).length).toBeLessThan(1000);
  });

  test('is halved by a 429 at once, and comes back within half a minute, never above the limit', () => {
    const [asked] = takeOne(freshLimit(''), 0, 10);
    const slowed = refuse(asked, 900, 1000);
    expect(rateAt(slowed, 1000)).toBe(5);
    expect(rateAt(slowed, 11_000)).toBeCloseTo(7);
    expect(rateAt(slowed, 26_000)).toBe(10);
    expect(rateAt(slowed, 9_000_000)).toBe(10);
  });

  test('is halved once by requests that were given before the 429, started or not', () => {
    const [asked, { starts }] = take(freshLimit(''), 100, 'a', callerOf(40), 8);
    let limit = refuse(asked, starts[0] ?? 0, 110);
    for (const [index, start] of starts.entries()) limit = refuse(limit, start, 111 + index);
    expect(rateAt(limit, 120)).toBeCloseTo(20, 0);
    const [again, next] = takeOne(limit, 500, 40);
    expect(rateAt(refuse(again, next, 510), 510)).toBeCloseTo(10, 0);
  });

  test('without a limit nothing waits, except for a moment after a 429', () => {
    const [asked, { starts }] = take(freshLimit(''), 7, 'a', callerOf(undefined), 1000);
    expect(starts).toEqual(Array(1000).fill(7));
    const held = refuse(asked, 7, 7);
    expect(takeOne(held, 7, undefined)[1]).toBe(107);
    expect(rateAt(held, 7)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('several processes', () => {
  /** Lets all start that wait, in small steps of time; the processes in order of their starts. */
  function drain(
    wanted: Readonly<Record<string, { readonly priority?: Priority; readonly rps: number; waiting: number }>>,
    endMs: number,
  ): string {
    let limit = freshLimit('');
    const order: { readonly id: string; readonly at: number }[] = [];
    for (let now = 1; now < endMs; now += 5) {
      for (const [id, one] of Object.entries(wanted)) {
        const [next, { starts }] = take(limit, now, id, callerOf(one.rps, one.priority), one.waiting);
        limit = next;
        one.waiting -= starts.length;
        order.push(...starts.map((at) => ({ id, at })));
      }
    }
    return order
      .sort((a, b) => a.at - b.at)
      .map(({ id }) => id)
      .join('');
  }

  test('a waiting interactive request goes first, then the tail, then the backfill', () => {
    const wanted = {
      b: { priority: 'backfill', rps: 10, waiting: 3 },
      t: { priority: 'tail', rps: 10, waiting: 3 },
      i: { priority: 'interactive', rps: 10, waiting: 3 },
    } as const;

    expect(drain(structuredClone(wanted), 3000)).toMatch(/^b*t*iiit*b*$/);
  });

  test('within a priority they take turns', () => {
    expect(drain({ a: { rps: 2, waiting: 3 }, b: { rps: 2, waiting: 2 } }, 5000)).toBe('ababa');
    const many = drain({ a: { rps: 50, waiting: 60 }, b: { rps: 50, waiting: 60 } }, 2000);
    expect(Math.abs([...many.slice(0, 90)].filter((id) => id === 'a').length - 45)).toBeLessThanOrEqual(5);
  });

  test('share the highest rate that any was given; none exceeds its own, and others use what is left', () => {
    const order = drain({ s: { priority: 'interactive', rps: 2, waiting: 100 }, f: { rps: 10, waiting: 100 } }, 5000);
    expect([...order].filter((id) => id === 's').length).toBeLessThanOrEqual(11);
    expect(order.length).toBeGreaterThanOrEqual(48);
    const [slow] = takeOne(freshLimit(''), 0, 3, 's');
    const [both] = takeOne(slow, 0, 12, 'f');
    expect(rateAt(both, 400)).toBe(12);
    expect(rateAt(removeHolder(both, 'f'), 400)).toBe(3);
  });

  test('one that is silent for three seconds counts no more', () => {
    const [gone] = takeOne(freshLimit(''), 0, 12, 'gone');
    const [stays] = takeOne(gone, 3500, 3, 'stays');
    expect(rateAt(stays, 3500)).toBe(3);
    expect(aliveHolders(stays, 3500)).toHaveLength(1);
  });
});

describe('the limit that is kept', () => {
  test('goes on where it was: no burst after all processes have ended', () => {
    const [asked, { starts }] = take(freshLimit(''), 1000, 'a', callerOf(10), 2);
    const kept = parseLimit(JSON.stringify(removeHolder(asked, 'a')), 'there');
    expect(kept).toEqual(removeHolder(asked, 'a'));
    const next = takeOne(kept ?? freshLimit(''), 1050, 10, 'b')[1];
    expect(next - (starts.at(-1) ?? 0)).toBeGreaterThan(93);
  });

  test('holds a pause for as long as it had left when the clock starts anew', () => {
    const [asked] = takeOne(freshLimit(''), 1_000_000, 10);
    const held = refuse(asked, 1_000_000, 1_000_100, 9000);
    const [restarted, start] = takeOne(held, 20, 10, 'b');
    expect(start).toBeGreaterThanOrEqual(9020);
    expect(start).toBeLessThan(9200);
    expect(aliveHolders(restarted, 9020)).toHaveLength(1);
  });

  test('after a break auto starts below the limit that was found', () => {
    const [asked] = takeOne(freshLimit(''), 0, 'auto');
    const found = { ...asked, auto: asked.auto && { ...asked.auto, found: 20, rps: 20 } };
    expect(rateAt(takeOne(found, 30_000, 'auto', 'b')[0], 30_000)).toBe(20);
    expect(rateAt(takeOne(found, 100_000, 'auto', 'b')[0], 100_000)).toBe(16);
  });

  test('of another version is refused, and one that nobody wrote is passed over', () => {
    const text = JSON.stringify({ ...freshLimit('x'), version: 7 });
    expect(() => parseLimit(text, '/state/limit.3')).toThrow(
      'source: expected a rate limit of version 1 in /state/limit.3, got version 7',
    );
    for (const nonsense of ['', 'nonsense', '[]', '{"version":1,"due":"x"}'])
      expect(parseLimit(nonsense, 'there')).toBeUndefined();
  });
});
