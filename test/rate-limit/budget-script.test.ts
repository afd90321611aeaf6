import { beforeAll, describe, expect, test } from 'vitest';
import { AdaptiveRate } from '../../src/rate-limit/adaptive-rate.ts';
import { Pace } from '../../src/rate-limit/pace.ts';
import { FixedRate, type Rate } from '../../src/rate-limit/rate.ts';
import { budgetScript } from '../../src/rate-limit/redis/budget-script.ts';
import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { SimulatedServer, seeded } from './simulation.ts';

/** The script with a clock that the test passes as the last argument. */
const SCRIPT = budgetScript('local clock = tonumber(ARGV[#ARGV])');
const BEGIN = Date.UTC(2026, 0, 1);

interface Script {
  /** Takes up to `wanted` permits at a time. */
  take(options: {
    readonly at: number;
    readonly id?: string;
    readonly wanted?: number;
    readonly priority?: number;
    readonly rps: number | 'auto';
    readonly memory?: readonly [epoch: string, found: number | '', rps: number | '', holdMs: number];
  }): Promise<Answer>;
  slow(startedAt: number, at: number, holdMs?: number): Promise<Answer>;
  leave(id: string, at: number): Promise<Answer>;
}

interface Answer {
  readonly epoch: string;
  readonly waitMs: number;
  readonly rps: number;
  readonly found: number | undefined;
  readonly heldMs: number;
  readonly starts: readonly number[];
}

let budgets = 0;

function openScript({ client }: RedisServer): Script {
  const name = `budget${budgets++}`;
  const keys = ['state', 'starts', 'log', 'holders'].map((part) => `{${name}}:${part}`);
  const run = async (...words: readonly (string | number)[]): Promise<Answer> => {
    const [epoch, wait, rps, found, held, starts] = (await client.eval(SCRIPT, 4, ...keys, ...words)) as [
      ...[string, string, string, string, string],
      string[],
    ];
    return {
      ...{ epoch, waitMs: Number(wait), rps: Number(rps), found: found === '' ? undefined : Number(found) },
      ...{ heldMs: Number(held), starts: starts.map(Number) },
    };
  };
  return {
    take: ({ at, id = 'one', wanted = 1, priority = 2, rps, memory = ['', '', '', 0] }) =>
      run('take', id, wanted, priority, rps, '', ...memory, at),
    slow: (startedAt, at, holdMs) => run('slow', startedAt.toFixed(3), holdMs ?? '', at),
    leave: (id, at) => run('leave', id, at),
  };
}

/** A step, and what the pace says after it. */
interface Step {
  readonly kind: 'start' | 'refusal';
  readonly startedAt: number;
  readonly at: number;
  readonly rate: number;
  readonly next: number;
  readonly heldUntil: number;
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Requests that keep to a pace, sometimes late, and what a server with a limit answers, which can change with the steps. */
function play(rate: Rate, limit: (step: number) => number, steps: number, seed: number): readonly Step[] {
  const server = new SimulatedServer(limit(0));
  const pace = new Pace(rate);
  const random = seeded(seed);
  const refusals: { readonly startedAt: number; readonly at: number }[] = [];
  const played: Step[] = [];
  let now = BEGIN;
  const after = () => ({ at: now, rate: rate.at(now), next: pace.nextStart(now), heldUntil: pace.heldUntil });
  while (played.length < steps) {
    const start = Math.max(now + 0.01, pace.nextStart(now) + (random() < 0.02 ? random() * 400 : random() * 3));
    const [refusal] = refusals;
    if (refusal !== undefined && refusal.at <= start) {
      refusals.shift();
      now = round(Math.max(now + 0.01, refusal.at));
      pace.slow(refusal.startedAt, now, undefined);
      played.push({ kind: 'refusal', startedAt: refusal.startedAt, ...after() });
      continue;
    }
    now = round(start);
    server.limit = limit(played.length);
    pace.recordStart(now);
    if (!server.accepts(now - BEGIN)) refusals.push({ startedAt: now, at: now + 16 });
    played.push({ kind: 'start', startedAt: now, ...after() });
  }
  return played;
}

/** Plays the same steps to the script. */
async function replay(script: Script, steps: readonly Step[], rps: number | 'auto'): Promise<void> {
  await Promise.all(
    steps.map(async (step, index) => {
      const { kind, startedAt, at, rate, next, heldUntil } = step;
      const answer = await (kind === 'start' ? script.take({ at, rps }) : script.slow(startedAt, at));
      const shown = `step ${index}, a ${kind}`;
      expect(answer.rps, shown).toBeCloseTo(rate, 2);
      if (kind === 'start') expect(answer.starts, shown).toEqual([at]);
      if (kind === 'start') expect(answer.waitMs, shown).toBeCloseTo(next - at, 1);
      else expect(answer.heldMs, shown).toBeCloseTo(Math.max(0, heldUntil - at), 1);
    }),
  );
}

describe.skipIf(!hasRedis)('the script of the shared limit', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  const open = (): Script => openScript(redis);

  test('auto finds, keeps and probes a limit exactly as a process does', async () => {
    const steps = play(new AdaptiveRate(), () => 25, 5000, 2);
    expect(steps.filter(({ kind }) => kind === 'refusal').length).toBeGreaterThan(3);
    await replay(open(), steps, 'auto');
  });

  test('auto follows a limit that drops and rises, as a process does', async () => {
    const limit = (step: number): number => (step > 400 && step < 800 ? 8 : 40);
    const steps = play(new AdaptiveRate(), limit, 1500, 5);
    expect(steps.filter(({ kind }) => kind === 'refusal').length).toBeGreaterThan(5);
    await replay(open(), steps, 'auto');
  });

  test('a given rate is halved by a 429 and recovers, as in a process', async () => {
    await replay(
      open(),
      play(new FixedRate(30), () => 20, 1000, 7),
      30,
    );
  });

  test('processes take turns; who has priority goes first', async () => {
    const script = open();
    let at = BEGIN;
    const { waitMs } = await script.take({ at, id: 'a', wanted: 9, rps: 50 });
    expect((await script.take({ at, id: 'b', wanted: 9, rps: 50 })).starts).toEqual([]);
    at += waitMs + 0.1;
    // It is the turn of b, who has a moment to take it.
    expect((await script.take({ at, id: 'a', wanted: 9, rps: 50 })).starts).toEqual([]);
    expect((await script.take({ at: at + 1, id: 'b', wanted: 9, rps: 50 })).starts).toHaveLength(1);
    // An analyst comes, and everybody else waits.
    expect((await script.take({ at: at + 2, id: 'c', wanted: 1, priority: 0, rps: 50 })).starts).toEqual([]);
    at += 22;
    expect((await script.take({ at, id: 'a', wanted: 9, rps: 50 })).starts).toEqual([]);
    expect((await script.take({ at, id: 'b', wanted: 9, rps: 50 })).starts).toEqual([]);
    expect((await script.take({ at, id: 'c', wanted: 1, priority: 0, rps: 50 })).starts).toHaveLength(1);
  });

  test('a process that was killed costs nothing: the others use its turns, and after three seconds its rate', async () => {
    const script = open();
    await script.take({ at: BEGIN, id: 'killed', wanted: 9, priority: 0, rps: 100 });
    const starts: number[] = [];
    let { rps, at } = { rps: 0, at: BEGIN + 1 };
    while (at < BEGIN + 6000) {
      const answer = await script.take({ at: round(at), id: 'left', wanted: 9, rps: 50 });
      starts.push(...answer.starts);
      rps = answer.rps;
      at += Math.max(0.5, answer.waitMs);
    }
    expect(rps).toBe(50);
    const within = (from: number, to: number) =>
      starts.filter((start) => start >= BEGIN + from && start < BEGIN + to).length;
    expect(within(1000, 3000)).toBeGreaterThan(95);
    expect(within(4000, 6000)).toBeGreaterThan(95);
  });

  test('of an own maximum below the common one nobody starts more', async () => {
    const script = open();
    await script.take({ at: BEGIN, id: 'fast', wanted: 0, rps: 100 });
    const starts: number[] = [];
    for (let at = BEGIN; at < BEGIN + 2000; at += 5) {
      starts.push(...(await script.take({ at, id: 'slow', wanted: 9, rps: 10 })).starts);
    }
    expect(starts.length).toBeGreaterThanOrEqual(19);
    expect(starts.length).toBeLessThanOrEqual(20);
  });

  test('a server that comes back empty learns limit, rate and pause from those who ask, and starts no burst', async () => {
    const script = open();
    const { starts, found, rps, heldMs, waitMs } = await script.take({
      ...{ at: BEGIN, wanted: 64, rps: 'auto', memory: ['another life', 40, 38, 2500] },
    });
    expect({ starts, found, rps, heldMs }).toEqual({ starts: [], found: 40, rps: 38, heldMs: 2500 });
    expect(waitMs).toBeCloseTo(2500, 1);
    const next = open();
    const told = { wanted: 64, rps: 50, memory: ['another life', '', 50, 0] } as const;
    const first = await next.take({ at: BEGIN, ...told });
    expect(first.starts).toEqual([]);
    expect(first.waitMs).toBeCloseTo(1000 / (50 * 0.985), 1);
    // Another process that still knows the old life delays nobody again.
    expect((await next.take({ at: BEGIN + 21, ...told })).starts).toHaveLength(1);
  });

  test('a clock that is set back by an hour delays nobody', async () => {
    const script = open();
    await script.take({ at: BEGIN, rps: 50 });
    const { starts, waitMs } = await script.take({ at: BEGIN - 3_600_000, wanted: 2, rps: 50 });
    expect(starts).toEqual([]);
    expect(waitMs).toBeLessThan(25);
    expect((await script.take({ at: BEGIN - 3_600_000 + 25, wanted: 1, rps: 50 })).starts).toHaveLength(1);
  });

  test('Retry-After holds everybody', async () => {
    const script = open();
    const { starts } = await script.take({ at: BEGIN, id: 'a', rps: 50 });
    await script.slow(starts[0] ?? 0, BEGIN + 10, 4000);
    const other = await script.take({ at: BEGIN + 100, id: 'b', rps: 50 });
    expect(other.starts).toEqual([]);
    expect(other.waitMs).toBeCloseTo(3910, 0);
  });

  test('whoever leaves has no share any more', async () => {
    const script = open();
    await script.take({ at: BEGIN, id: 'a', wanted: 0, rps: 100 });
    await script.take({ at: BEGIN, id: 'b', wanted: 0, rps: 10 });
    await script.leave('a', BEGIN + 1);
    expect((await script.take({ at: BEGIN + 2, id: 'b', wanted: 0, rps: 10 })).rps).toBe(10);
  });
});
