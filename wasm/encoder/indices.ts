import { putVarint } from './bytes';

/** Bytes that `encodeIndices` needs at most: each group of eight values needs a header and its bits, or a run a header and its value. */
export function roomForIndices(count: u32, bits: u32): usize {
  return 1 + ((<usize>count >> 3) + 2) * (<usize>bits + 8);
}

function positionAt(positions: usize, i: u32): u32 {
  return load<u32>(positions + ((<usize>i) << 2));
}

/** Bit width, then positions in Parquet's RLE/bit-packing hybrid: the data page after its levels. @returns the position after them */
export function encodeIndices(positions: usize, from: u32, to: u32, bits: u32, out: usize): usize {
  store<u8>(out, <u8>bits);
  let at = out + 1;
  let literal = from;
  let row = from;
  while (row < to) {
    const value = positionAt(positions, row);
    let end = row + 1;
    while (end < to && positionAt(positions, end) == value) end++;
    if (end - row < 8) {
      row += 8;
      continue;
    }
    at = encodeGroups(positions, literal, row, bits, at);
    at = putVarint(at, (end - row) * 2);
    for (let shift: u32 = 0; shift < bits; shift += 8) store<u8>(at++, <u8>(value >> shift));
    row = end;
    literal = row;
  }
  return encodeGroups(positions, literal, to, bits, at);
}

/** Packs the values from `from` to before `to` in groups of eight, least significant bits first; the last is padded with zeros. */
function encodeGroups(positions: usize, from: u32, to: u32, bits: u32, out: usize): usize {
  if (from == to) return out;
  const groups = (to - from + 7) >> 3;
  let at = putVarint(out, groups * 2 + 1);
  let pending: u64 = 0;
  let pendingBits: u32 = 0;
  const end = from + groups * 8;
  for (let row = from; row < end; row++) {
    if (row < to) pending |= (<u64>positionAt(positions, row)) << pendingBits;
    pendingBits += bits;
    while (pendingBits >= 8) {
      store<u8>(at++, <u8>pending);
      pending >>= 8;
      pendingBits -= 8;
    }
  }
  return at;
}
