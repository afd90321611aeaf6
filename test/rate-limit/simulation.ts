import type { Holder, Pool, Seat } from '../../src/rate-limit/permit-pool.ts';

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
export interface SimulatedHolder extends Holder {
  readonly concurrency: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Sent {
  readonly at: number;
  readonly pid: number;
  readonly isRefused: boolean;
}

export interface Simulation {
  readonly pool: Pool;
  readonly server: SimulatedServer;
  readonly holders: readonly SimulatedHolder[];
  readonly endMs: number;
  /** From 0 (inclusive) to 1 (exclusive), the same for the same seed. */
  readonly random: () => number;
  /** How late a start is, and how long one way to the server takes. */
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

/** Plays holders against a server on a clock of its own; returns everything that was sent. */
export function simulate(simulation: Simulation): readonly Sent[] {
  const { pool, server, holders, endMs, random, lateMs = 2, wayMs = 8, holdMs } = simulation;
  const sent: Sent[] = [];
  const events: Event[] = [];
  const plan = (at: number, act: Event['act']): void => {
    let index = events.length;
    while (index > 0 && (events[index - 1]?.at ?? at) < at) index--;
    events.splice(index, 0, { at, act });
  };
  let look = Number.POSITIVE_INFINITY;
  let ticket = 0;
  const serve = (now: number): void => {
    for (let turn = pool.next(now); turn.kind !== 'idle'; turn = pool.next(now)) {
      if (turn.kind === 'wait') {
        const at = turn.until + random() * lateMs;
        if (at < look) {
          look = at;
          plan(at, (then) => {
            if (look !== at) return;
            look = Number.POSITIVE_INFINITY;
            serve(then);
          });
        }
        return;
      }
      const { seat } = turn;
      pool.start(seat, turn.ticket, now);
      plan(now + wayMs * (0.5 + random()), (arrived) => {
        const isRefused = !server.accepts(arrived);
        sent.push({ at: arrived, pid: seat.pid, isRefused });
        plan(arrived + wayMs, (answered) => {
          if (isRefused) pool.slow(now, answered, holdMs);
          askAgain(seat, answered);
        });
      });
    }
  };
  const askAgain = (seat: Seat, now: number): void => {
    if (!pool.seats.includes(seat)) return;
    seat.waiting.add(ticket++);
    serve(now);
  };
  for (const holder of holders) {
    plan(holder.fromMs, (now) => {
      const seat = pool.join(holder);
      for (let index = 0; index < holder.concurrency; index++) askAgain(seat, now);
      plan(holder.toMs, () => pool.leave(seat));
    });
  }
  for (let event = events.pop(); event !== undefined && event.at <= endMs; event = events.pop()) {
    simulation.onTime?.(event.at);
    event.act(event.at);
  }
  return sent;
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
