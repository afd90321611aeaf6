/** Number of set bits of each byte. */
const ones = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});

/** Number of set bits among whole bytes, from `from` to before `to`. */
export function countOnes(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) count += ones[bytes[at] as number] as number;
  return count;
}

/** Copies bits, least significant first; other bits of the target stay. The ranges must not overlap. */
export function copyBits(source: Uint8Array, from: number, target: Uint8Array, to: number, count: number): void {
  const head = Math.min(count, -to & 7);
  copyEach(source, from, target, to, head);
  const whole = (count - head) >> 3;
  const start = (to + head) >> 3;
  const shift = (from + head) & 7;
  const first = (from + head) >> 3;
  if (shift === 0) target.set(source.subarray(first, first + whole), start);
  else {
    for (let i = 0; i < whole; i++) {
      const low = (source[first + i] as number) >> shift;
      target[start + i] = low | ((source[first + i + 1] as number) << (8 - shift));
    }
  }
  const done = head + whole * 8;
  copyEach(source, from + done, target, to + done, count - done);
}

/** Clears bits. */
export function clearBits(target: Uint8Array, from: number, count: number): void {
  for (let at = from; at < from + count; at++) target[at >> 3] = (target[at >> 3] as number) & ~(1 << (at & 7));
}

function copyEach(source: Uint8Array, from: number, target: Uint8Array, to: number, count: number): void {
  for (let i = 0; i < count; i++) {
    const bit = ((source[(from + i) >> 3] as number) >> ((from + i) & 7)) & 1;
    const at = (to + i) >> 3;
    const mask = 1 << ((to + i) & 7);
    target[at] = bit === 1 ? (target[at] as number) | mask : (target[at] as number) & ~mask;
  }
}
