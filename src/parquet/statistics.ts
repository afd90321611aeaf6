import type { Physical } from '../declare/kind.ts';

/** Minimum and maximum in PLAIN encoding (texts and bytes without length), or lower and upper bounds of them. */
export interface Bounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  /** True if `min` is a value of the column. */
  readonly isMinExact: boolean;
  readonly isMaxExact: boolean;
}

/** The common bounds of both. */
export function mergeBounds(physical: Physical, a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const least = compareValues(physical, a.min, b.min) <= 0 ? a : b;
  const greatest = compareValues(physical, a.max, b.max) >= 0 ? a : b;
  return { min: least.min, isMinExact: least.isMinExact, max: greatest.max, isMaxExact: greatest.isMaxExact };
}

/** Compares two values in PLAIN encoding (texts and bytes without length), in the order of their type. */
export function compareValues(physical: Physical, a: Uint8Array, b: Uint8Array): number {
  switch (physical) {
    case 'int32':
      return Buffer.from(a).readInt32LE() - Buffer.from(b).readInt32LE();
    case 'int64': {
      const [left, right] = [Buffer.from(a).readBigInt64LE(), Buffer.from(b).readBigInt64LE()];
      return left < right ? -1 : left > right ? 1 : 0;
    }
    case 'decimal128':
      // Big-endian in two's complement: only the first byte is signed.
      return (((a[0] as number) << 24) >> 24) - (((b[0] as number) << 24) >> 24) || Buffer.compare(a, b);
    case 'bool':
    case 'utf8':
    case 'binary':
      return Buffer.compare(a, b);
  }
}
