import { FILL, type Rate } from './rate.ts';
import { RequestStartLog } from './request-log.ts';

const FIRST_RPS = 1;
const SLOWEST_RPS = 0.1;
/** The rate increases only if this share of it was used: an unused rate proves nothing. */
const LEAST_USE = 0.8;
const STEP = { ms: 1000, starts: 3 };
/** Growth per step before the first 429. */
const GROWTH = { slowBelowRps: 4, low: 2, high: 1.4 };
/** Share of the found limit that is recovered per second after a 429, or after starting from a remembered limit. */
const RECOVERY_PER_SECOND = 0.02;
const REMEMBERED_SHARE = 0.8;
/** Small steps above the found limit, after a quiet time that doubles each time they end at the same limit. */
const PROBE = { firstWaitMs: 15_000, longestWaitMs: 600_000, stepMs: 5000, firstRaise: 0.01, lastRaise: 0.04 };
/** If the limit is exceeded by this factor without a 429, it has increased and is searched again. */
const OUTGROWN = 1.2;
const SAME_LIMIT = 0.1;
/** A 429 this soon after the last one means that the estimate was wrong. */
const REPEAT_MS = 5000;
const REPEAT_CUTS = [0.9, 0.7, 0.5] as const;
const HOLD_MS = 250;
const LONGEST_HOLD_MS = 5000;
/** With a shorter log than `least`, no limit is estimated; with one shorter than `full`, the previous limit counts more. */
const REACH_MS = { least: 2500, full: 20_000 };

/** The constants of the policy, for the script that applies it in Redis. */
export const ADAPTIVE = {
  ...{ FIRST_RPS, SLOWEST_RPS, LEAST_USE, STEP, GROWTH, RECOVERY_PER_SECOND, REMEMBERED_SHARE, PROBE, OUTGROWN },
  ...{ SAME_LIMIT, REPEAT_MS, REPEAT_CUTS, HOLD_MS, LONGEST_HOLD_MS, REACH_MS },
};

/** What is known about a network's limit before the first request. */
export interface RateMemory {
  /** Limit found earlier, in requests per second. */
  readonly found?: number | undefined;
  /** Current rate of another process. */
  readonly rps?: number | undefined;
}

/**
 * Finds the limit of a source and stays just below it.
 *
 * The rate starts at 1 request per second and grows while it is used without a 429. A 429 gives the limit (see
 * `RequestStartLog.bound`); then the rate stays at that limit and is occasionally probed. The caller passes the time.
 */
export class AdaptiveRate implements Rate {
  readonly #log = new RequestStartLog();
  #rps: number;
  #found: number | undefined;
  #steppedAt: number | undefined;
  #quietSince = Number.NEGATIVE_INFINITY;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #repeats = 0;
  #raise: number = PROBE.firstRaise;
  #waitMs: number = PROBE.firstWaitMs;

  constructor(memory: RateMemory = {}) {
    this.#found = memory.found;
    this.#rps = memory.rps ?? Math.max(FIRST_RPS, (memory.found ?? 0) * REMEMBERED_SHARE);
  }

  /** Known limit of the source, in requests per second; undefined before the first 429. */
  get found(): number | undefined {
    return this.#found;
  }

  at(): number {
    return this.#rps;
  }

  recordStart(now: number): void {
    this.#log.record(now);
    this.#steppedAt ??= now;
    if (this.#quietSince === Number.NEGATIVE_INFINITY) this.#quietSince = now;
    const elapsedMs = now - this.#steppedAt;
    if (elapsedMs < Math.max(STEP.ms, (STEP.starts * 1000) / this.#rps)) return;
    const isUsed = this.#log.since(this.#steppedAt) >= (LEAST_USE * FILL * this.#rps * elapsedMs) / 1000;
    this.#steppedAt = now;
    if (isUsed) this.#stepUp(now, elapsedMs);
  }

  slow(startedAt: number, now: number): number {
    this.#log.strike(startedAt);
    if (startedAt < this.#slowedAt) return 0;
    const isRepeat = now - this.#slowedAt < REPEAT_MS;
    this.#slowedAt = now;
    this.#steppedAt = now;
    this.#quietSince = now;
    this.#raise = PROBE.firstRaise;
    if (isRepeat) return this.#cutAgain();
    this.#repeats = 0;
    this.#settle(this.#estimate(startedAt));
    return HOLD_MS;
  }

  #estimate(startedAt: number): number {
    const reachMs = this.#log.reach(startedAt);
    if (this.#found !== undefined && reachMs < REACH_MS.full) return Math.min(this.#found, this.#rps) * 0.95;
    if (reachMs < REACH_MS.least) return this.#rps * 0.8;
    return Math.min(Math.max(this.#log.bound(startedAt), this.#rps * 0.3), this.#rps * 0.97);
  }

  #settle(limit: number): void {
    const before = this.#found;
    const isSame = before !== undefined && Math.abs(limit - before) <= before * SAME_LIMIT;
    this.#waitMs = isSame ? Math.min(2 * this.#waitMs, PROBE.longestWaitMs) : PROBE.firstWaitMs;
    this.#found = Math.max(SLOWEST_RPS, limit);
    this.#rps = this.#found;
  }

  #cutAgain(): number {
    const cut = REPEAT_CUTS[Math.min(this.#repeats, REPEAT_CUTS.length - 1)] ?? 0.5;
    this.#rps = Math.max(SLOWEST_RPS, this.#rps * cut);
    this.#repeats++;
    if (this.#repeats > 1) {
      // The limit itself has decreased, so earlier requests are no longer evidence.
      this.#log.clear();
      this.#found = this.#rps;
      this.#waitMs = PROBE.firstWaitMs;
    }
    return Math.min(LONGEST_HOLD_MS, HOLD_MS * 2 ** this.#repeats);
  }

  #stepUp(now: number, elapsedMs: number): void {
    const found = this.#found;
    if (found === undefined) {
      this.#rps *= this.#rps < GROWTH.slowBelowRps ? GROWTH.low : GROWTH.high;
      return;
    }
    if (this.#rps < found) {
      this.#rps = Math.min(found, this.#rps + (found * RECOVERY_PER_SECOND * elapsedMs) / 1000);
      this.#quietSince = now;
      return;
    }
    const isProbing = this.#rps > found;
    if (now - this.#quietSince < (isProbing ? PROBE.stepMs : this.#waitMs)) return;
    this.#quietSince = now;
    this.#rps *= 1 + this.#raise;
    this.#raise = Math.min(PROBE.lastRaise, 2 * this.#raise);
    if (this.#rps > found * OUTGROWN) this.#found = undefined;
  }
}
