/** Maximum size of a 32-bit varint, in bytes. */
export const MOST_BYTES = 5;

/** Writes a number in unsigned LEB128. @returns the position after it */
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

/** Writes a signed 32-bit number as a zigzag varint. @returns the position after it */
export function putZigzag(out: Uint8Array, start: number, value: number): number {
  return putVarint(out, start, (value << 1) ^ (value >> 31));
}

/** Number of bits of an unsigned 32-bit number. */
export function bitsOf(value: number): number {
  return 32 - Math.clz32(value);
}

/** Bits packed at once: with up to 7 pending ones they fit 32 bits. */
const PIECE = 24;

/**
 * Packs the values from `from` to before `to`, least significant bits first, then zeros to before `end`, in whole bytes.
 *
 * @returns the position after them
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
  let pending = 0;
  let pendingBits = 0;
  for (let row = from; row < end; row++) {
    const value = row < to ? (values[row] as number) : 0;
    for (let done = 0; done < bits; done += PIECE) {
      pending |= ((value >>> done) & 0xffffff) << pendingBits;
      pendingBits += Math.min(PIECE, bits - done);
      while (pendingBits >= 8) {
        out[at++] = pending;
        pending >>>= 8;
        pendingBits -= 8;
      }
    }
  }
  return at;
}
