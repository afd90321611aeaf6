import type { Physical } from '../declare/kind.ts';
import type { Bounds } from './statistics.ts';

/**
 * Bounds of at most `most` bytes (a greatest text of a few more, or whole where nothing shorter is above it): the least value is
 * cut, the greatest one is cut and then raised, so that both still hold. Texts stay valid UTF-8. Numbers stay as they are.
 */
export function truncateBounds(physical: Physical, bounds: Bounds, most: number): Bounds {
  const { min, max } = bounds;
  if ((physical !== 'utf8' && physical !== 'binary') || (min.length <= most && max.length <= most)) return bounds;
  const isText = physical === 'utf8';
  const isMinCut = min.length > most;
  const raised = max.length > most ? raise(cut(max, most, isText), isText) : undefined;
  return {
    min: isMinCut ? cut(min, most, isText) : min,
    max: raised ?? max,
    isMinExact: bounds.isMinExact && !isMinCut,
    isMaxExact: bounds.isMaxExact && raised === undefined,
  };
}

/** Whether a byte of UTF-8 is one inside a character. */
function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function cut(value: Uint8Array, most: number, isText: boolean): Uint8Array {
  let end = most;
  if (isText) while (end > 0 && isInside(value[end])) end--;
  return new Uint8Array(value.subarray(0, end));
}

/** The least value of no more bytes or characters that is above all that begin with the given one; undefined where there is none. */
function raise(prefix: Uint8Array, isText: boolean): Uint8Array | undefined {
  return isText ? raiseText(prefix) : raiseBytes(prefix);
}

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
/** No character has a number between these. */
const surrogates = { first: 0xd800, last: 0xdfff } as const;

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
