/** Most bytes that a number of 32 bits takes as a varint. */
export const MOST_BYTES = 5;

/** Puts a number in unsigned LEB128, as headers of runs use it. @returns where the next byte goes */
export function putVarint(out: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value >>> 0;
  while (rest > 127) {
    out[at++] = rest | 128;
    rest >>>= 7;
  }
  out[at++] = rest;
  return at;
}

/** Puts a signed number of 32 bits as a varint, small ones of either sign in few bytes. @returns where the next byte goes */
export function putZigzag(out: Uint8Array, start: number, value: number): number {
  return putVarint(out, start, (value << 1) ^ (value >> 31));
}

/** Bits that an unsigned number of 32 bits takes. */
export function bitsOf(value: number): number {
  return 32 - Math.clz32(value);
}

/** Bits that are packed at once: with up to 7 that are held they fit 32. */
const PIECE = 24;

/**
 * Packs the values from `from` to before `to`, least significant bits first, and zeros up to before `end`; all of them together must
 * take whole bytes.
 *
 * @returns where the next byte goes
 */
export function packBits(
  values: Int32Array,
  from: number,
  to: number,
  end: number,
  bits: number,
  out: Uint8Array,
  start: number,
): number {
  let at = start;
  let held = 0;
  let heldBits = 0;
  for (let row = from; row < end; row++) {
    const value = row < to ? (values[row] as number) : 0;
    for (let done = 0; done < bits; done += PIECE) {
      held |= ((value >>> done) & 0xffffff) << heldBits;
      heldBits += Math.min(PIECE, bits - done);
      while (heldBits >= 8) {
        out[at++] = held;
        held >>>= 8;
        heldBits -= 8;
      }
    }
  }
  return at;
}
