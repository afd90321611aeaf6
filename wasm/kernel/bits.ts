// Bitmaps as in Arrow: least significant bit first.

export function bitAt(bits: usize, at: u32): bool {
  return ((load<u8>(bits + (at >> 3)) >> <u8>(at & 7)) & 1) != 0;
}

export function setBit(bits: usize, at: u32): void {
  const byte = bits + (at >> 3);
  store<u8>(byte, load<u8>(byte) | ((<u8>1) << (<u8>(at & 7))));
}

export function clearBit(bits: usize, at: u32): void {
  const byte = bits + (at >> 3);
  store<u8>(byte, load<u8>(byte) & ~((<u8>1) << (<u8>(at & 7))));
}
