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
