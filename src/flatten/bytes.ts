/** The memory of words as bytes. */
export function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Compares two pieces of bytes as unsigned numbers, a beginning before what it begins: negative, zero or positive. */
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
