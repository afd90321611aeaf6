/** True if two ranges of the same length have the same bytes. */
export function isSame(a: usize, b: usize, length: usize): bool {
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(a + i) != load<u64>(b + i)) return false;
  for (; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}

/** Compares as unsigned bytes, then by length: negative, zero or positive. */
export function compare(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const shorter = min(aLength, bLength);
  let i: usize = 0;
  for (; i + 8 <= shorter; i += 8) {
    const left = bswap(load<u64>(a + i));
    const right = bswap(load<u64>(b + i));
    if (left != right) return left < right ? -1 : 1;
  }
  for (; i < shorter; i++) {
    const order = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (order != 0) return order;
  }
  return aLength == bLength ? 0 : aLength < bLength ? -1 : 1;
}

/** Writes a number in unsigned LEB128. @returns the position after it */
export function putVarint(at: usize, value: u32): usize {
  let rest = value;
  while (rest > 127) {
    store<u8>(at++, <u8>(rest | 128));
    rest >>= 7;
  }
  store<u8>(at++, <u8>rest);
  return at;
}
