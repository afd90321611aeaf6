import { freshLimit, type Limit } from '../../src/rate-limit/limit.ts';
import { type Caller, removeHolder, slow, take } from '../../src/rate-limit/policy.ts';
import type { Priority } from '../../src/rate-limit/priority.ts';

/** A server that allows so many requests per second, with a bucket that holds one second. */
export class SimulatedServer {
  limit: number;
  /** Seconds that the bucket holds. */
  readonly depth: number;
  #tokens: number;
  #filledAt = 0;

  constructor(limit: number, depth = 1) {
    this.limit = limit;
    this.depth = depth;
    this.#tokens = Math.max(1, limit * depth);
  }

  accepts(now: number): boolean {
    this.#tokens = Math.min(
      Math.max(1, this.limit * this.depth),
      this.#tokens + ((now - this.#filledAt) / 1000) * this.limit,
    );
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** A process that asks as fast as it may, with so many requests under way at once. */
export interface SimulatedHolder {
  readonly pid: number;
  readonly priority?: Priority;
  readonly rps: number | 'auto' | undefined;
  readonly concurrency: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** It is killed at `toMs`, with the starts that it has at hand. */
  readonly isKilled?: boolean;
}

export interface Sent {
  readonly at: number;
  readonly pid: number;
  readonly isRefused: boolean;
}

export interface Simulation {
  readonly server: SimulatedServer;
  readonly holders: readonly SimulatedHolder[];
  readonly endMs: number;
  /** From 0 (inclusive) to 1 (exclusive), the same for the same seed. */
  readonly random: () => number;
  /** How late a process acts, and how long one way to the server takes. */
  readonly lateMs?: number;
  readonly wayMs?: number;
  /** Retry-After of the server. */
  readonly holdMs?: number;
  /** Told of time as it passes. */
  readonly onTime?: (now: number) => void;
}

interface Event {
  readonly at: number;
  readonly act: (now: number) => void;
}

/** What a process says of itself, with a given rate and priority. */
export function callerOf(rps: SimulatedHolder['rps'], priority: Priority = 'backfill', pid = 1): Caller {
  return { pid, host: 'here', command: 'test', priority, rps, share: 0, usedLastMinute: 0 };
}

/** Plays processes that share a limit against a server, on a clock of its own; returns everything that was sent, and the limit. */
export function simulate(simulation: Simulation): { readonly sent: readonly Sent[]; readonly limit: Limit } {
  const { server, holders, endMs, random, lateMs = 2, wayMs = 8, holdMs } = simulation;
  const sent: Sent[] = [];
  const events: Event[] = [];
  let limit = freshLimit('http://127.0.0.1:9');
  const plan = (at: number, act: Event['act']): void => {
    let index = events.length;
    while (index > 0 && (events[index - 1]?.at ?? at) < at) index--;
    events.splice(index, 0, { at, act });
  };
  const play = (holder: SimulatedHolder): void => {
    const id = `p${holder.pid}`;
    let waiting = 0;
    let starts: readonly number[] = [];
    let nextAt = 0;
    let look = Number.POSITIVE_INFINITY;
    const isThere = (now: number): boolean => now < holder.toMs;
    const serve = (now: number): void => {
      if (!isThere(now)) return;
      for (;;) {
        const [start = Number.POSITIVE_INFINITY] = starts;
        const ask = starts.length < waiting ? nextAt : Number.POSITIVE_INFINITY;
        if (start <= now && waiting > 0) {
          starts = starts.slice(1);
          waiting--;
          send(start, now);
        } else if (ask <= now) {
          const [next, taken] = take(
            limit,
            now,
            id,
            callerOf(holder.rps, holder.priority, holder.pid),
            waiting - starts.length,
          );
          limit = next;
          starts = [...starts, ...taken.starts];
          nextAt = taken.nextAt;
        } else {
          wake(Math.max(now, Math.min(start, ask)) + random() * lateMs);
          return;
        }
      }
    };
    const wake = (at: number): void => {
      if (at >= look || waiting === 0) return;
      look = at;
      plan(at, (then) => {
        if (look !== at) return;
        look = Number.POSITIVE_INFINITY;
        serve(then);
      });
    };
    const send = (start: number, now: number): void =>
      plan(now + wayMs * (0.5 + random()), (arrived) => {
        const isRefused = !server.accepts(arrived);
        sent.push({ at: arrived, pid: holder.pid, isRefused });
        plan(arrived + wayMs, (answered) => {
          if (!isThere(answered)) return;
          if (isRefused) {
            starts = [];
            nextAt = 0;
            limit = slow(limit, answered, { startedAt: start, holdMs, wall: answered });
          }
          waiting++;
          serve(answered);
        });
      });
    plan(holder.fromMs, (now) => {
      waiting = holder.concurrency;
      serve(now);
      plan(holder.toMs, () => {
        if (holder.isKilled !== true) limit = removeHolder(limit, id);
      });
    });
  };
  for (const holder of holders) play(holder);
  for (let event = events.pop(); event !== undefined && event.at <= endMs; event = events.pop()) {
    simulation.onTime?.(event.at);
    event.act(event.at);
  }
  return { sent, limit };
}

/** A generator of numbers from 0 to 1 by seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Accepted requests per second as a share of the limit, between two times. */
export function usedShare(sent: readonly Sent[], limit: number, fromMs: number, toMs: number): number {
  const accepted = sent.filter(({ at, isRefused }) => !isRefused && at >= fromMs && at < toMs).length;
  return accepted / ((limit * (toMs - fromMs)) / 1000);
}

export function refusedShare(sent: readonly Sent[]): number {
  return sent.filter(({ isRefused }) => isRefused).length / sent.length;
}
