import { mixOf } from './chain/mix.ts';
import type { SandboxFaults } from './faults.ts';

const SPOILERS = [
  'http429',
  'http500Timeout',
  'http502Html',
  'dropConnection',
  'cutBody',
  'brokenGzip',
  'truncatedJson',
  'shortBlocks',
  'shortTransactions',
] as const;

/** A fault that spoils one response. */
export type Spoiler = (typeof SPOILERS)[number];

/** What happens to one request. */
export type Fate = ReturnType<Chance['next']>;

/** Maximum failures of one URL in a row. */
const MOST_IN_A_ROW = 2;
const KEPT_URLS = 10_000;

/** Decides from the seed and the number of a request what goes wrong with it. */
export class Chance {
  readonly #seed: number;
  readonly #failures = new Map<string, number>();
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The fate of the next request; `possible` says which spoilers apply to it. */
  next(faults: SandboxFaults, url: string, possible: (spoiler: Spoiler) => boolean) {
    this.#count += 1;
    const hit = (rate: number, salt: number): boolean => mixOf(this.#seed, this.#count, salt) < rate * 4294967296;
    const before = this.#failures.get(url) ?? 0;
    const spoiler =
      before >= MOST_IN_A_ROW
        ? undefined
        : SPOILERS.find((name, index) => hit(faults[name], index + 1) && possible(name));
    if (spoiler === undefined) this.#failures.delete(url);
    else this.#failures.set(url, before + 1);
    if (this.#failures.size > KEPT_URLS) this.#failures.clear();
    const roll = mixOf(this.#seed, this.#count, 77);
    return {
      spoiler,
      slow: hit(faults.slow, 50),
      lag: hit(faults.headLags, 51) ? 1 + (roll % 3) : 0,
      rawControls: hit(faults.rawControls, 52),
      extraField: hit(faults.extraField, 53),
      /** A random number. */
      roll,
    };
  }
}

/** Masterchain blocks that are missing at first. */
export class Holes {
  readonly #seed: number;
  readonly #asks = new Map<number, number>();
  #since: number;

  constructor(seed: number, nowMs: number) {
    this.#seed = seed;
    this.#since = nowMs;
  }

  /** Opens all holes again. */
  reopen(nowMs: number): void {
    this.#asks.clear();
    this.#since = nowMs;
  }

  isOpen(faults: SandboxFaults, seqno: number, nowMs: number): boolean {
    if (faults.holes.length === 0 && faults.holeRate === 0) return false;
    const chosen = faults.holes.includes(seqno) || mixOf(this.#seed, seqno, 0x401e) < faults.holeRate * 4294967296;
    return chosen && nowMs - this.#since < faults.holeMs && (this.#asks.get(seqno) ?? 0) < faults.holeAsks;
  }

  /** Counts a request for a seqno. */
  asked(faults: SandboxFaults, seqno: number): void {
    if (faults.holes.length > 0 || faults.holeRate > 0) this.#asks.set(seqno, (this.#asks.get(seqno) ?? 0) + 1);
  }
}

/** A token bucket that holds the requests of one second. */
export class Bucket {
  #tokens = 0;
  #filledAt = Number.NEGATIVE_INFINITY;

  /** Takes a token if there is one. */
  take(rps: number, nowMs: number): boolean {
    if (rps <= 0) return true;
    this.#tokens = Math.min(Math.max(1, rps), this.#tokens + ((nowMs - this.#filledAt) / 1000) * rps);
    this.#filledAt = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
