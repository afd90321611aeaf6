/** Most bytes that a number of 32 bits takes. */
export const MOST_BYTES = 5;

/** Puts a number in unsigned LEB128, as headers of runs use it. @returns where the next byte goes */
export function putVarint(out: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 127) {
    out[at++] = rest | 128;
    rest >>>= 7;
  }
  out[at++] = rest;
  return at;
}
