import { FILL, type Rate } from './rate.ts';
import { RequestStartLog } from './request-log.ts';

const FIRST_RPS = 1;
const SLOWEST_RPS = 0.1;
/** A step up needs this share of the rate to have been used: a rate that nobody uses proves nothing. */
const LEAST_USE = 0.8;
const STEP = { ms: 1000, starts: 3 };
/** How the rate grows per step while nothing was refused yet. */
const GROWTH = { slowBelowRps: 4, low: 2, high: 1.4 };
/** Share of the found limit that comes back per second after a 429, and before a remembered limit is used in full. */
const RECOVERY_PER_SECOND = 0.02;
const REMEMBERED_SHARE = 0.8;
/** Careful steps above the found limit: after a quiet time, which doubles each time that they end at the same limit. */
const PROBE = { firstWaitMs: 15_000, longestWaitMs: 600_000, stepMs: 5000, firstRaise: 0.01, lastRaise: 0.04 };
/** A limit that is exceeded by so much without a 429 has grown: it is looked for anew. */
const OUTGROWN = 1.2;
const SAME_LIMIT = 0.1;
/** A 429 so soon after the last one says that the estimate was wrong. */
const REPEAT_MS = 5000;
const REPEAT_CUTS = [0.9, 0.7, 0.5] as const;
const HOLD_MS = 250;
const LONGEST_HOLD_MS = 5000;
/** Starts over less than this say too little about the limit; over less than the second, less than what was found before. */
const REACH_MS = { least: 2500, full: 20_000 };

/** What is known of a network's limit before the first request. */
export interface RateMemory {
  /** Requests per second that were found to be the limit. */
  readonly found?: number | undefined;
  /** The rate at which another process was just working. */
  readonly rps?: number | undefined;
}

/**
 * Finds the limit of a source by careful use and stays just below it.
 *
 * It starts at 1 request per second and grows while the rate is used and nothing is refused. A 429 tells the limit (see
 * `RequestStartLog.bound`); from then on the rate is that limit, now and then a little more. All times are the caller's.
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

  /** Requests per second that the source is known to allow; undefined before the first 429. */
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
      // What was allowed before is no longer evidence: the limit itself has fallen.
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
