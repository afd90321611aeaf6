import { mixOf } from './chain/mix.ts';
import type { SandboxFaults } from './faults.ts';

/** A fault that spoils one answer. */
export type Spoiler =
  | 'http429'
  | 'http500Timeout'
  | 'http502Html'
  | 'dropConnection'
  | 'cutBody'
  | 'brokenGzip'
  | 'truncatedJson'
  | 'shortBlocks'
  | 'shortTransactions';

/** What happens to one request. */
export interface Fate {
  readonly spoiler: Spoiler | undefined;
  readonly slow: boolean;
  readonly lag: number;
  readonly rawControls: boolean;
  readonly extraField: boolean;
  /** Differs from request to request. */
  readonly roll: number;
}

const SPOILERS: readonly Spoiler[] = [
  'http429',
  'http500Timeout',
  'http502Html',
  'dropConnection',
  'cutBody',
  'brokenGzip',
  'truncatedJson',
  'shortBlocks',
  'shortTransactions',
];

/** Failures that one URL may have in a row. */
const MOST_IN_A_ROW = 2;
const KEPT_URLS = 10_000;

/** Decides by seed and number of the request what goes wrong with it. */
export class Chance {
  readonly #seed: number;
  readonly #failures = new Map<string, number>();
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The fate of the next request. `possible` says which spoilers can act on it. */
  next(faults: SandboxFaults, url: string, possible: (spoiler: Spoiler) => boolean): Fate {
    this.#count += 1;
    const hit = (rate: number, salt: number): boolean => mixOf(this.#seed, this.#count, salt) < rate * 4294967296;
    const before = this.#failures.get(url) ?? 0;
    const spoiler =
      before >= MOST_IN_A_ROW
        ? undefined
        : SPOILERS.find((name, index) => hit(faults[name], index + 1) && possible(name));
    this.#remember(url, spoiler === undefined ? 0 : before + 1);
    const roll = mixOf(this.#seed, this.#count, 77);
    return {
      spoiler,
      slow: hit(faults.slow, 50),
      lag: hit(faults.headLags, 51) ? 1 + (roll % 3) : 0,
      rawControls: hit(faults.rawControls, 52),
      extraField: hit(faults.extraField, 53),
      roll,
    };
  }

  #remember(url: string, failures: number): void {
    if (failures === 0) this.#failures.delete(url);
    else this.#failures.set(url, failures);
    if (this.#failures.size > KEPT_URLS) this.#failures.clear();
  }
}

/** Masterchain blocks that are missing for a while. */
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

  /** Counts that a seqno was asked for. */
  asked(faults: SandboxFaults, seqno: number): void {
    if (faults.holes.length > 0 || faults.holeRate > 0) this.#asks.set(seqno, (this.#asks.get(seqno) ?? 0) + 1);
  }
}

/** A bucket that holds one second's worth of requests. */
export class Bucket {
  #tokens = 0;
  #filledAt = Number.NEGATIVE_INFINITY;

  /** Whether a request may pass now. */
  take(rps: number, nowMs: number): boolean {
    if (rps <= 0) return true;
    this.#tokens = Math.min(Math.max(1, rps), this.#tokens + ((nowMs - this.#filledAt) / 1000) * rps);
    this.#filledAt = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
