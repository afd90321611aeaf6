/** Numbers that follow from a seed alone. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `end`, which it does not reach. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** A whole number from `from` to `to`. */
  within(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  happens(share: number): boolean {
    return this.next() < share;
  }

  /** One of some; undefined if there are none. */
  pick<T>(some: readonly T[]): T | undefined {
    return some[this.below(some.length)];
  }
}
