/** Bijective scrambling of 32 bits: the finalizer of murmur3. */
export function mix32(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/** 32 bits that depend on every given number. */
export function mixOf(...values: readonly number[]): number {
  let h = 0x9e3779b9;
  for (const value of values) h = mix32(Math.imul(h, 0x9e3779b1) + mix32(value) + 0x7f4a7c15);
  return h >>> 0;
}

/** The value. @throws {Error} when it is undefined, which is a bug of the sandbox */
export function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`sandbox: no ${what}`);
  return value;
}

/** The value of a key, made on first use. */
export function cached<K, V>(cache: Map<K, V>, key: K, make: () => V): V {
  const value = cache.get(key);
  if (value !== undefined) return value;
  const made = make();
  cache.set(key, made);
  return made;
}

/** Pseudo-random numbers, always the same for a seed. */
export class Rng {
  #state: number;

  constructor(...seed: readonly number[]) {
    this.#state = mixOf(...seed);
  }

  /** From 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return mix32(this.#state);
  }

  /** From 0 to `bound` - 1; `bound` up to 2^32. */
  below(bound: number): number {
    return Math.floor((this.next() / 4294967296) * bound);
  }

  /** Both ends included; the width may exceed 32 bits. */
  between(from: number, to: number): number {
    const width = to - from + 1;
    const wide = (this.next() & 0x1fffff) * 4294967296 + this.next();
    return from + (width <= 4294967296 ? this.below(width) : wide % width);
  }

  chance(probability: number): boolean {
    return this.next() < probability * 4294967296;
  }

  pick<T>(list: readonly T[]): T {
    return must(list[this.below(list.length)], 'element to pick');
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next() & 255);
  }
}
