import type { Physical } from '../declare/kind.ts';
import type { Bounds } from './statistics.ts';

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
