/** Words as bytes, without a copy. */
export function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Compares two byte ranges lexicographically: negative, zero or positive. */
export function compareBytes(
  left: Uint8Array,
  leftFrom: number,
  leftTo: number,
  right: Uint8Array,
  rightFrom: number,
  rightTo: number,
): number {
  const shorter = Math.min(leftTo - leftFrom, rightTo - rightFrom);
  for (let i = 0; i < shorter; i++) {
    const order = (left[leftFrom + i] as number) - (right[rightFrom + i] as number);
    if (order !== 0) return order;
  }
  return leftTo - leftFrom - (rightTo - rightFrom);
}

/** Above this, `set` is faster than the loop. */
const LONG_COPY = 192;

/** Copies bytes in whole words: both sides need three bytes of slack. */
export function copyBytes(
  target: Uint8Array,
  targetView: DataView,
  to: number,
  source: Uint8Array,
  sourceView: DataView,
  from: number,
  length: number,
): void {
  if (length > LONG_COPY) {
    target.set(source.subarray(from, from + length), to);
  } else {
    for (let i = 0; i < length; i += 4) targetView.setInt32(to + i, sourceView.getInt32(from + i, true), true);
  }
}

/** Adds a word to a hash. */
export function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
