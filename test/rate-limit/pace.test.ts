import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openLimiter } from '../../src/rate-limit/limiter.ts';
import { Pace } from '../../src/rate-limit/pace.ts';
import { sharedClock } from './clock.ts';

/** Starts of requests that come up at the given times, each as early as the pace allows, some milliseconds late. */
function startsOf(pace: Pace, demands: readonly { readonly idle: number; readonly late: number }[]): number[] {
  let now = 0;
  return demands.map(({ idle, late }) => {
    now = Math.max(now + idle, pace.nextStart(now + idle)) + late;
    while (pace.nextStart(now) > now) now = pace.nextStart(now);
    pace.recordStart(now);
    return now;
  });
}

function mostInOneSecond(starts: readonly number[]): number {
  let first = 0;
  return starts.reduce((most, start, last) => {
    while ((starts[first] ?? 0) <= start - 1000) first++;
    return Math.max(most, last - first + 1);
  }, 0);
}

describe('pace', () => {
  test('requests are spread evenly over the second', () => {
    const starts = startsOf(
      new Pace(10),
      Array.from({ length: 21 }, () => ({ idle: 0, late: 0 })),
    );
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
        fc.oneof(fc.integer({ min: 1, max: 120 }), fc.double({ min: 0.2, max: 50, noNaN: true })),
        fc.array(demand, { maxLength: 400 }),
        fc.array(fc.nat(399), { maxLength: 5 }),
        (rps, demands, refused) => {
          const pace = new Pace(rps);
          const starts: number[] = [];
          let now = 0;
          for (const [index, { idle, late }] of demands.entries()) {
            now += idle + late;
            while (pace.nextStart(now) > now) now = pace.nextStart(now);
            pace.recordStart(now);
            starts.push(now);
            expect(pace.rateAt(now)).toBeLessThanOrEqual(rps);
            if (refused.includes(index)) pace.slow(now, now, undefined);
          }
          expect(mostInOneSecond(starts)).toBeLessThanOrEqual(Math.ceil(rps));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('starts of a previous leader count as if they were evenly spread', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 120 }), fc.double({ min: 0.2, max: 50, noNaN: true })),
        fc.nat(3000),
        fc.array(fc.record({ idle: fc.nat(100), late: fc.nat(30) }), { minLength: 1, maxLength: 200 }),
        (rps, idle, demands) => {
          const pace = new Pace(rps);
          pace.resume(0);
          const [first = 0, ...others] = startsOf(pace, [{ idle, late: 0 }, ...demands]);
          const gap = new Pace(rps);
          gap.recordStart(0);
          expect(first).toBeCloseTo(Math.max(idle, gap.nextStart(0)), 6);
          const before = Array.from({ length: Math.ceil(rps) }, (_, back) => -back * gap.nextStart(0)).reverse();
          expect(mostInOneSecond([...before, first, ...others])).toBeLessThanOrEqual(Math.ceil(rps));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('a limit beyond what can be counted takes no memory when a leader continues', () => {
    const pace = new Pace(1e12);
    pace.resume(0);
    expect(pace.nextStart(1)).toBe(1);
  });

  test('under steady demand at least 97 % of the limit is used, also when timers are up to 3 ms late', () => {
    for (const rps of [1, 10, 25, 100]) {
      const late = [0.4, 1.1, 3, 0.2, 2];
      const demands = Array.from({ length: rps * 61 }, (_, index) => ({
        idle: 0,
        late: late[index % late.length] ?? 0,
      }));
      const used = startsOf(new Pace(rps), demands).filter((start) => start < 60_000).length;
      expect(used, `at ${rps} per second`).toBeGreaterThanOrEqual(Math.floor(rps * 60 * 0.97));
      expect(used).toBeLessThanOrEqual(rps * 60);
    }
  });

  test('a 429 halves the rate at once, and it comes back within half a minute, never above the limit', () => {
    const pace = new Pace(10);
    pace.slow(0, 1000, undefined);
    expect(pace.rateAt(1000)).toBe(5);
    expect(pace.rateAt(11_000)).toBeCloseTo(7);
    expect(pace.rateAt(26_000)).toBe(10);
    expect(pace.rateAt(9_000_000)).toBe(10);
  });

  test('requests that were under way together slow the budget once', () => {
    const pace = new Pace(8);
    pace.slow(0, 100, undefined);
    pace.slow(50, 101, undefined);
    pace.slow(99, 102, undefined);
    expect(pace.rateAt(102)).toBeCloseTo(4);
    pace.slow(102, 103, undefined);
    expect(pace.rateAt(103)).toBeCloseTo(2);
  });

  test('Retry-After holds every start', () => {
    const pace = new Pace(10);
    pace.slow(0, 0, 7000);
    expect(pace.nextStart(0)).toBe(7000);
  });

  test('without a limit nothing waits, except for a moment after a 429', () => {
    const pace = new Pace(undefined);
    for (let start = 0; start < 1000; start++) pace.recordStart(0);
    expect(pace.nextStart(0)).toBe(0);
    pace.slow(0, 0, undefined);
    expect(pace.nextStart(0)).toBe(100);
    expect(pace.rateAt(0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('budget', () => {
  test('many that ask at once are let in one by one, in order', async () => {
    const clock = sharedClock();
    const budget = openLimiter(2, clock);
    const started: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      void budget
        .take(new AbortController().signal)
        .then(({ startedAt }) => started.push(`${name} ${Math.round(startedAt)}`));
    }
    await clock.advance(5000);
    expect(started).toEqual(['a 0', 'b 508', 'c 1015']);
  });

  test('a 429 holds back those who wait already', async () => {
    const clock = sharedClock();
    const budget = openLimiter(10, clock);
    const first = await budget.take(new AbortController().signal);
    const started: number[] = [];
    void budget.take(new AbortController().signal).then(({ startedAt }) => started.push(startedAt));
    budget.slow(first, 5000);
    await clock.advance(4999);
    expect(started).toEqual([]);
    await clock.advance(6000);
    expect(started).toEqual([5000]);
    expect(budget.rps).toBeLessThan(10);
  });

  test('whoever gives up frees the turn at once, with the reason of the signal', async () => {
    const clock = sharedClock();
    const budget = openLimiter(1, clock);
    await budget.take(new AbortController().signal);
    const giveUp = new AbortController();
    const left = budget.take(giveUp.signal);
    const stayed = budget.take(new AbortController().signal);
    giveUp.abort(new Error('no longer needed'));
    await expect(left).rejects.toThrow('no longer needed');
    await clock.advance(2000);
    expect(Math.round((await stayed).startedAt)).toBe(1015);
    await expect(budget.take(giveUp.signal)).rejects.toThrow('no longer needed');
  });

  test('a budget serves again after all who waited have left', async () => {
    const clock = sharedClock();
    const budget = openLimiter(1, clock);
    await budget.take(new AbortController().signal);
    const giveUp = new AbortController();
    const left = budget.take(giveUp.signal);
    giveUp.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    const next = budget.take(new AbortController().signal);
    await clock.advance(3000);
    expect(Math.round((await next).startedAt)).toBe(1015);
  });
});
