import type { Arena } from '../decode/arena.ts';
import { packBits, putVarint } from './bit-packing.ts';

/** The last page with each entry. */
let seenIn = new Int32Array(1024);
let entries = new Int32Array(1024);
let pages = 0;

/** The distinct entries at positions `from` to before `to`. Valid until the next call. */
export function entriesIn(positions: Int32Array, from: number, to: number, size: number): Int32Array {
  if (seenIn.length < size) {
    seenIn = new Int32Array(size * 2);
    entries = new Int32Array(size * 2);
  }
  pages = (pages + 1) | 0;
  let count = 0;
  for (let at = from; at < to; at++) {
    const entry = positions[at] as number;
    if (seenIn[entry] === pages) continue;
    seenIn[entry] = pages;
    entries[count++] = entry;
  }
  return entries.subarray(0, count);
}

/** Bit width, then positions in Parquet's RLE/bit-packing hybrid: the data page after its levels. */
export function encodeIndices(positions: Int32Array, from: number, to: number, bits: number, arena: Arena): Uint8Array {
  // Each group of eight values needs a header and its bits, or a run a header and its value.
  const out = arena.take(1 + (((to - from) >> 3) + 2) * (bits + 8));
  out[0] = bits;
  let at = 1;
  let literal = from;
  let row = from;
  while (row < to) {
    const run = runFrom(positions, row, to);
    if (run < 8) {
      row += 8;
      continue;
    }
    at = encodeGroups(positions, literal, row, bits, out, at);
    at = putVarint(out, at, run * 2);
    for (let shift = 0; shift < bits; shift += 8) out[at++] = (positions[row] as number) >>> shift;
    row += run;
    literal = row;
  }
  return out.subarray(0, encodeGroups(positions, literal, to, bits, out, at));
}

/** Length of the run at a position. */
function runFrom(indices: Int32Array, row: number, count: number): number {
  const value = indices[row];
  let to = row + 1;
  while (to < count && indices[to] === value) to++;
  return to - row;
}

/** Packs the values from `from` to before `to` in groups of eight; the last is padded with zeros. */
function encodeGroups(
  indices: Int32Array,
  from: number,
  to: number,
  bits: number,
  out: Uint8Array,
  start: number,
): number {
  if (from === to) return start;
  const groups = (to - from + 7) >> 3;
  const at = putVarint(out, start, groups * 2 + 1);
  return packBits(indices, from, to, from + groups * 8, bits, out, at);
}
