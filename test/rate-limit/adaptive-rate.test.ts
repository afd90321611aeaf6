import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AdaptiveRate } from '../../src/rate-limit/adaptive-rate.ts';
import { type Holder, Pool } from '../../src/rate-limit/permit-pool.ts';
import { RequestStartLog } from '../../src/rate-limit/request-log.ts';
import { refusedShare, type Sent, SimulatedServer, seeded, simulate, usedShare } from './simulation.ts';

const NEVER = 1e9;

function holder(rps: Holder['rps'], pid = 1, fromMs = 0, toMs = NEVER) {
  return { pid, command: 'test', priority: 'backfill' as const, rps, concurrency: 32, fromMs, toMs };
}

describe('rates against a server with a bucket of one second', () => {
  test.each([10, 25, 100])(
    'told the limit of %i: 97 %% of it is used and nothing is refused, by one or two processes',
    (limit) => {
      fc.assert(
        fc.property(
          fc.nat(),
          fc.integer({ min: 1, max: 2 }),
          fc.integer({ min: 1, max: 60 }),
          (seed, processes, wayMs) => {
            const holders = Array.from({ length: processes }, (_, pid) => holder(limit, pid, pid * 700));
            const sent = simulate({
              ...{ pool: new Pool(), server: new SimulatedServer(limit), holders },
              ...{ endMs: 32_000, random: seeded(seed), wayMs },
            });
            expect(refusedShare(sent)).toBe(0);
            expect(usedShare(sent, limit, 2000, 32_000)).toBeGreaterThanOrEqual(0.97);
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
          fc.integer({ min: 1, max: 2 }),
          fc.integer({ min: 1, max: 60 }),
          (seed, processes, wayMs) => {
            const pool = new Pool();
            const holders = Array.from({ length: processes }, (_, pid) => holder('auto', pid, pid * 700));
            const sent = simulate({
              ...{ pool, server: new SimulatedServer(limit), holders },
              ...{ endMs: 90_000, random: seeded(seed), wayMs },
            });
            expect(usedShare(sent, limit, 30_000, 90_000)).toBeGreaterThanOrEqual(0.9);
            expect(refusedShare(sent)).toBeLessThanOrEqual(0.01);
            expect(pool.found).toBeGreaterThanOrEqual(limit * 0.95);
            expect(pool.found).toBeLessThanOrEqual(limit * 1.03);
          },
        ),
        { numRuns: 8 },
      );
    },
  );

  test('two processes get equal parts, and when one ends the other has the whole at once', () => {
    const holders = [holder(25, 1, 0, 30_000), holder(25, 2)];
    const random = seeded(1);
    const sent = simulate({ pool: new Pool(), server: new SimulatedServer(25), holders, endMs: 60_000, random });
    const of = (pid: number): readonly Sent[] => sent.filter((one) => one.pid === pid);
    expect(usedShare(of(1), 25, 2000, 30_000)).toBeCloseTo(0.49, 1);
    expect(usedShare(of(2), 25, 2000, 30_000)).toBeCloseTo(0.49, 1);
    expect(usedShare(of(2), 25, 31_000, 60_000)).toBeGreaterThanOrEqual(0.97);
  });

  test('a limit that falls to a third is found again, and one that doubles as well', () => {
    for (const change of [1 / 3, 2]) {
      const server = new SimulatedServer(30);
      const sent = simulate({
        ...{ pool: new Pool(), server, holders: [holder('auto')], endMs: 400_000, random: seeded(7) },
        onTime: (now) => {
          server.limit = now < 100_000 ? 30 : 30 * change;
        },
      });
      expect(usedShare(sent, 30 * change, 340_000, 400_000), `times ${change}`).toBeGreaterThanOrEqual(0.85);
      expect(refusedShare(sent), `times ${change}`).toBeLessThanOrEqual(0.01);
    }
  });

  test('Retry-After stops all starts for that time', () => {
    const pool = new Pool();
    const seat = pool.join(holder('auto'));
    seat.waiting.add(1);
    pool.slow(0, 1000, 7000);
    expect(pool.next(1001)).toEqual({ kind: 'wait', until: 8000 });
  });
});

describe('auto', () => {
  test('starts at one request per second', () => {
    expect(new AdaptiveRate().at()).toBe(1);
  });

  test('starts below a remembered limit, comes back to it in some seconds, and only then looks above', () => {
    const rate = new AdaptiveRate({ found: 20 });
    expect(rate.at()).toBe(16);
    for (let now = 0; now < 12_000; now += 50) rate.recordStart(now);
    expect(rate.at()).toBe(20);
    for (let now = 12_000; now < 60_000; now += 50) rate.recordStart(now);
    expect(rate.at()).toBeGreaterThan(20);
  });

  test('a rate that nobody uses does not grow', () => {
    const rate = new AdaptiveRate({ rps: 8 });
    for (let now = 0; now < 100_000; now += 500) rate.recordStart(now);
    expect(rate.at()).toBe(8);
  });

  test('requests that were under way together slow it once', () => {
    const rate = new AdaptiveRate({ rps: 10 });
    rate.slow(900, 1000);
    const after = rate.at();
    expect(after).toBeLessThan(10);
    rate.slow(901, 1001);
    rate.slow(999, 1002);
    expect(rate.at()).toBe(after);
  });

  test('a 429 soon after taking over costs little where the limit was found before', () => {
    const rate = new AdaptiveRate({ rps: 100, found: 100 });
    for (let now = 0; now < 3000; now += 10.2) rate.recordStart(now);
    rate.slow(2999, 3010);
    expect(rate.at()).toBe(95);
  });

  test('429 after 429 cuts deeper and deeper, but never to nothing', () => {
    const rate = new AdaptiveRate({ rps: 50 });
    const rates = Array.from({ length: 20 }, (_, index) => {
      rate.slow(index * 1000, index * 1000);
      return rate.at();
    });
    expect(rates[4]).toBeLessThan(10);
    expect(rates.at(-1)).toBe(0.1);
  });

  test('what a bucket of one second let pass tells its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 200 }), fc.double({ min: 1.1, max: 3, noNaN: true }), (limit, excess) => {
        const server = new SimulatedServer(limit);
        const log = new RequestStartLog();
        let now = 0;
        while (server.accepts(now)) {
          log.record(now);
          now += 1000 / (limit * excess);
        }
        expect(log.bound(now)).toBeLessThanOrEqual(limit * 1.001);
        expect(log.bound(now)).toBeGreaterThanOrEqual(limit - 1);
      }),
    );
  });
});
