// Base64, sixteen characters at once.

/** Marks the characters that are not base64, one bit each: each half of a character says which others it may stand beside. */
export function invalidIn(v: v128): i32 {
  const low = i8x16(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a);
  const high = i8x16(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10);
  const a = i8x16.swizzle(low, v128.and(v, i8x16.splat(15)));
  const b = i8x16.swizzle(high, i8x16.shr_u(v, 4));
  return i8x16.bitmask(i8x16.ne(v128.and(a, b), i8x16.splat(0)));
}

/** Sixteen characters to twelve bytes and four of zeros. */
export function decodeSixteen(v: v128): v128 {
  const shifts = i8x16(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);
  const slashes = i8x16.eq(v, i8x16.splat(47));
  const six = i8x16.add(v, i8x16.swizzle(shifts, i8x16.add(slashes, i8x16.shr_u(v, 4))));
  const twelve = v128.or(i16x8.shl(v128.and(six, i16x8.splat(63)), 6), i16x8.shr_u(six, 8));
  const words = i32x4.dot_i16x8_s(twelve, i16x8(4096, 1, 4096, 1, 4096, 1, 4096, 1));
  return i8x16.swizzle(words, i8x16(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
}
