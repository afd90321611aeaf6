import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordStart, slowAdaptive, startAdaptive } from '../../src/rate-limit/adaptive-rate.ts';
import { type AdaptiveRate, freshLimit } from '../../src/rate-limit/limit.ts';
import { slow, take } from '../../src/rate-limit/policy.ts';
import { PRIORITIES } from '../../src/rate-limit/priority.ts';
import {
  callerOf,
  refusedShare,
  type SimulatedHolder,
  SimulatedServer,
  seeded,
  simulate,
  usedShare,
} from './simulation.ts';

const NEVER = 1e9;

function holder(rps: SimulatedHolder['rps'], pid = 1, fromMs = 0, toMs = NEVER): SimulatedHolder {
  return { pid, rps, concurrency: 32, fromMs, toMs };
}

describe('rates against a server with a bucket of one second', () => {
  test.each([10, 25, 100])(
    'told the limit of %i: 97 %% of it is used and nothing is refused, by one to four processes',
    (limit) => {
      fc.assert(
        fc.property(
          fc.nat(),
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 60 }),
          (seed, processes, wayMs) => {
            const holders = Array.from({ length: processes }, (_, pid) => holder(limit, pid, pid * 700));
            const { sent } = simulate({
              ...{ server: new SimulatedServer(limit), holders, endMs: 32_000, random: seeded(seed), wayMs },
            });
            expect(refusedShare(sent)).toBe(0);
            expect(usedShare(sent, limit, 3000, 32_000)).toBeGreaterThanOrEqual(0.97);
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  test.each([10, 25, 100])(
    'auto finds the limit of %i: 90 %% of it is used after half a minute, at most 1 %% is refused',
    (limit) => {
      fc.assert(
        fc.property(
          fc.nat(),
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 60 }),
          (seed, processes, wayMs) => {
            const holders = Array.from({ length: processes }, (_, pid) => holder('auto', pid, pid * 700));
            const { sent, limit: after } = simulate({
              ...{ server: new SimulatedServer(limit), holders, endMs: 90_000, random: seeded(seed), wayMs },
            });
            expect(usedShare(sent, limit, 30_000, 90_000)).toBeGreaterThanOrEqual(0.9);
            expect(refusedShare(sent)).toBeLessThanOrEqual(0.01);
            // The last refusal may have been a moment ago.
            expect(after.auto?.found).toBeGreaterThanOrEqual(limit * 0.9);
            expect(after.auto?.found).toBeLessThanOrEqual(limit * 1.03);
          },
        ),
        { numRuns: 8 },
      );
    },
  );

  test.each([1, 5, 25])(
    'two processes get equal parts of %i a second, and when one ends the other has the whole at once',
    (limit) => {
      const holders = [holder(limit, 1, 0, 60_000), holder(limit, 2)];
      const { sent } = simulate({ server: new SimulatedServer(limit), holders, endMs: 120_000, random: seeded(1) });
      const of = (pid: number) => sent.filter((one) => one.pid === pid);
      expect(usedShare(of(1), limit, 2000, 60_000)).toBeCloseTo(0.49, 1);
      expect(usedShare(of(2), limit, 2000, 60_000)).toBeCloseTo(0.49, 1);
      expect(usedShare(of(2), limit, 61_000, 120_000)).toBeGreaterThanOrEqual(0.96);
      expect(refusedShare(sent)).toBe(0);
    },
  );

  test.each([1, 10, 100])(
    'of %i a second, a process that is killed takes at most 250 ms with it, whatever its priority',
    (limit) => {
      fc.assert(
        fc.property(fc.nat(), fc.constantFrom(...PRIORITIES), fc.nat(1000), (seed, priority, phase) => {
          const killed = { ...holder(limit, 1, 0, 10_000 + phase), priority, isKilled: true };
          const holders = [killed, holder(limit, 2)];
          const { sent } = simulate({
            server: new SimulatedServer(limit),
            holders,
            endMs: 40_000,
            random: seeded(seed),
          });
          const lost =
            0.985 * limit * 20 - sent.filter(({ at }) => at >= killed.toMs && at < killed.toMs + 20_000).length;
          expect(lost).toBeLessThanOrEqual(0.25 * limit + 2);
          expect(refusedShare(sent)).toBe(0);
        }),
        { numRuns: 20 },
      );
    },
  );

  test('a limit that falls to a third is found again, and one that doubles as well', () => {
    for (const change of [1 / 3, 2]) {
      const server = new SimulatedServer(30);
      const { sent } = simulate({
        ...{ server, holders: [holder('auto')], endMs: 400_000, random: seeded(7) },
        onTime: (now) => {
          server.limit = now < 100_000 ? 30 : 30 * change;
        },
      });
      expect(usedShare(sent, 30 * change, 340_000, 400_000), `times ${change}`).toBeGreaterThanOrEqual(0.85);
      expect(refusedShare(sent), `times ${change}`).toBeLessThanOrEqual(0.01);
    }
  });

  test('Retry-After stops all starts for that time', () => {
    const [asked] = take(freshLimit(''), 900, 'a', callerOf('auto'), 1);
    const held = slow(asked, 1000, { startedAt: 900, holdMs: 7000, wall: 0 });
    for (const id of ['a', 'b']) expect(take(held, 7700, id, callerOf('auto'), 1)[1].starts).toEqual([]);
    expect(take(held, 8001, 'a', callerOf('auto'), 1)[1].starts).toEqual([8001]);
  });
});

describe('auto', () => {
  const after = (rate: AdaptiveRate, fromMs: number, toMs: number, gapMs: number): AdaptiveRate => {
    let next = rate;
    for (let now = fromMs; now < toMs; now += gapMs) next = recordStart(next, now);
    return next;
  };

  test('starts at one request per second', () => {
    expect(startAdaptive(0).rps).toBe(1);
  });

  test('starts below a remembered limit, comes back to it in some seconds, and only then looks above', () => {
    const rate = startAdaptive(0, { found: 20 });
    expect(rate.rps).toBe(16);
    const back = after(rate, 0, 12_000, 50);
    expect(back.rps).toBe(20);
    expect(after(back, 12_000, 60_000, 50).rps).toBeGreaterThan(20);
  });

  test('a rate that nobody uses does not grow', () => {
    expect(after(startAdaptive(0, { rps: 8 }), 0, 100_000, 500).rps).toBe(8);
  });

  test('requests that were under way together slow it once', () => {
    const [slowed] = slowAdaptive(startAdaptive(0, { rps: 10 }), 900, 1000, 1200);
    expect(slowed.rps).toBeLessThan(10);
    const [again] = slowAdaptive(slowed, 901, 1001, 1200);
    expect(slowAdaptive(again, 1199, 1402, 1500)[0].rps).toBe(slowed.rps);
  });

  test('a 429 soon after taking over costs little where the limit was found before', () => {
    const rate = after(startAdaptive(0, { rps: 100, found: 100 }), 0, 3000, 10.2);
    expect(slowAdaptive(rate, 2999, 3010, 3010)[0].rps).toBe(95);
  });

  test('429 after 429 cuts deeper and deeper, but never to nothing', () => {
    let rate = startAdaptive(0, { rps: 50 });
    const rates = Array.from({ length: 20 }, (_, index) => {
      [rate] = slowAdaptive(rate, index * 1000, index * 1000, index * 1000);
      return rate.rps;
    });
    expect(rates[4]).toBeLessThan(10);
    expect(rates.at(-1)).toBe(0.1);
  });

  test('what a bucket of one second let pass tells its limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 200 }),
        fc.double({ min: 1.1, max: 1.3, noNaN: true }),
        fc.double({ min: 0, max: 1000, noNaN: true }),
        (limit, excess, from) => {
          const server = new SimulatedServer(limit);
          const rps = limit * excess;
          let rate = startAdaptive(from, { rps });
          let now = from;
          for (; server.accepts(now - from); now += 1000 / rps) rate = { ...recordStart(rate, now), rps };
          const [{ found = 0 }] = slowAdaptive(recordStart(rate, now), now, now, now);
          expect(found).toBeLessThanOrEqual(limit * 1.001);
          expect(found).toBeGreaterThanOrEqual(limit * 0.9 - 1);
        },
      ),
    );
  });
});
