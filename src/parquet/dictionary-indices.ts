import type { Arena } from '../decode/arena.ts';
import { packBits, putVarint } from './bit-packing.ts';

/** Last page that each entry was seen in. */
let seenIn = new Int32Array(1024);
let entries = new Int32Array(1024);
let pages = 0;

/** The entries that stand at positions `from` to before `to`, each once, valid until the next call. */
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

/** Width in bits, then positions in Parquet's hybrid of runs and packed bits: what a data page holds behind its levels. */
export function encodeIndices(positions: Int32Array, from: number, to: number, bits: number, arena: Arena): Uint8Array {
  // A group of eight values takes its bits and a header, or a run takes a header and its value.
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

/** How many values from there on are the same. */
function runFrom(indices: Int32Array, row: number, count: number): number {
  const value = indices[row];
  let to = row + 1;
  while (to < count && indices[to] === value) to++;
  return to - row;
}

/** Packs the values from `from` to before `to` in groups of eight; the last may be filled up with zeros. */
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
