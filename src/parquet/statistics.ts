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

/**
 * Bounds of at most `most` bytes: the minimum is truncated, the maximum is truncated and incremented, so that both remain valid. The
 * maximum stays whole if no shorter value is above it. Texts stay valid UTF-8. Numbers are unchanged.
 */
export function truncateBounds(physical: Physical, bounds: Bounds, most: number): Bounds {
  const { min, max } = bounds;
  if ((physical !== 'utf8' && physical !== 'binary') || (min.length <= most && max.length <= most)) return bounds;
  const isText = physical === 'utf8';
  const isMinCut = min.length > most;
  const raised = max.length > most ? (isText ? raiseText : raiseBytes)(cut(max, most, isText)) : undefined;
  return {
    min: isMinCut ? cut(min, most, isText) : min,
    max: raised ?? max,
    isMinExact: bounds.isMinExact && !isMinCut,
    isMaxExact: bounds.isMaxExact && raised === undefined,
  };
}

/** True for a UTF-8 continuation byte. */
function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function cut(value: Uint8Array, most: number, isText: boolean): Uint8Array {
  let end = most;
  if (isText) while (end > 0 && isInside(value[end])) end--;
  return new Uint8Array(value.subarray(0, end));
}

/** The lowest value above all that begin with a prefix, not longer than it; undefined for none. */
function raiseBytes(prefix: Uint8Array): Uint8Array | undefined {
  for (let at = prefix.length - 1; at >= 0; at--) {
    const byte = prefix[at] as number;
    if (byte === 0xff) continue;
    const raised = prefix.slice(0, at + 1);
    raised[at] = byte + 1;
    return raised;
  }
  return undefined;
}

const LAST_CHARACTER = 0x10ffff;
/** Not valid as characters. */
const surrogates = { first: 0xd800, last: 0xdfff } as const;

/** The same in UTF-8, by characters. */
function raiseText(prefix: Uint8Array): Uint8Array | undefined {
  let end = prefix.length;
  while (end > 0) {
    let start = end - 1;
    while (start > 0 && isInside(prefix[start])) start--;
    const character = Buffer.from(prefix.subarray(start, end)).toString('utf8').codePointAt(0) ?? LAST_CHARACTER;
    if (character < LAST_CHARACTER) {
      const next = character + 1 === surrogates.first ? surrogates.last + 1 : character + 1;
      return Buffer.concat([prefix.subarray(0, start), Buffer.from(String.fromCodePoint(next))]);
    }
    end = start;
  }
  return undefined;
}
