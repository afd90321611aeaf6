import { bitAt, clearBit, setBit } from './bits';
import { BITS, Column, isSet, SLACK, TEXTS } from './columns';
import { Block, fit, newBlock, takeZeros } from './memory';

/** Some rows of a column, in Arrow's layout. It stays until the next call. */
@unmanaged
export class Vector {
  nullCount: u32;
  validity: usize;
  /** 0 for values of a fixed size. */
  offsets: usize;
  values: usize;
  /** Bytes of the values. */
  size: usize;
}

const vector = changetype<Vector>(takeZeros(offsetof<Vector>()));
const validity: Block = newBlock();
const offsets: Block = newBlock();
const values: Block = newBlock();

function rowAt(rows: usize, i: usize): u32 {
  return load<u32>(rows + (i << 2));
}

/** How many of the rows from position `from` on follow each other. */
function runAt(rows: usize, from: usize, count: usize): usize {
  let at = from + 1;
  while (at < count && rowAt(rows, at) == rowAt(rows, at - 1) + 1) at++;
  return at - from;
}

export function gather(column: Column, rows: usize, count: u32): Vector {
  gatherValidity(column, rows, count);
  vector.offsets = 0;
  if (column.width == TEXTS) gatherTexts(column, rows, count);
  else if (column.width == BITS) gatherBits(column, rows, count);
  else gatherWords(column, rows, count);
  return vector;
}

function gatherValidity(column: Column, rows: usize, count: u32): void {
  const bytes: usize = (count + 7) >> 3;
  const to = fit(validity, bytes + SLACK);
  memory.fill(to, 255, bytes);
  vector.validity = to;
  vector.nullCount = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    if (isSet(column, row)) continue;
    clearBit(to, i);
    vector.nullCount++;
  }
}

function gatherBits(column: Column, rows: usize, count: u32): void {
  const bytes: usize = (count + 7) >> 3;
  const to = fit(values, bytes + SLACK);
  memory.fill(to, 0, bytes);
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    if (isSet(column, row) && bitAt(column.values, row)) setBit(to, i);
  }
  vector.values = to;
  vector.size = bytes;
}

function gatherWords(column: Column, rows: usize, count: usize): void {
  const width: usize = column.width;
  const next: usize = column.next;
  const to = fit(values, count * width + SLACK);
  for (let i: usize = 0; i < count; ) {
    const first: usize = rowAt(rows, i);
    const length = runAt(rows, i, count);
    const written = first < next ? min(length, next - first) : 0;
    memory.copy(to + i * width, column.values + first * width, written * width);
    memory.fill(to + (i + written) * width, 0, (length - written) * width);
    i += length;
  }
  vector.values = to;
  vector.size = count * width;
}

function gatherTexts(column: Column, rows: usize, count: usize): void {
  const ends = fit(offsets, (count + 1) << 2);
  store<u32>(ends, 0);
  let size: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const row: usize = rowAt(rows, i);
    const at = column.offsets + (row << 2);
    if (row < column.next) size += load<u32>(at, 4) - load<u32>(at);
    store<u32>(ends + (i << 2), size, 4);
  }
  const to = fit(values, <usize>size + SLACK);
  for (let i: usize = 0; i < count; ) {
    const first: usize = rowAt(rows, i);
    const length = runAt(rows, i, count);
    const start = load<u32>(ends + (i << 2));
    const bytes = load<u32>(ends + ((i + length) << 2)) - start;
    if (bytes > 0) copy(to + start, column.values + load<u32>(column.offsets + (first << 2)), bytes);
    i += length;
  }
  vector.offsets = ends;
  vector.values = to;
  vector.size = size;
}

/** Copies short texts as two vectors; the next text overwrites the bytes after it. */
function copy(to: usize, from: usize, bytes: usize): void {
  if (bytes > 32) memory.copy(to, from, bytes);
  else {
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
  }
}

const SECONDS_A_DAY: u32 = 86_400;
const MICROS_A_SECOND: u64 = 1_000_000;

/** UTC times in microseconds, or dates in days, of a column of Unix seconds in 32 bits. */
export function gatherTimes(column: Column, rows: usize, count: u32, areDates: bool): Vector {
  gather(column, rows, count);
  const at = vector.values;
  for (let i: usize = 0; i < count; i++) {
    const second = load<u32>(at + (i << 3));
    if (areDates) store<u32>(at + (i << 2), second / SECONDS_A_DAY);
    else store<u64>(at + (i << 3), second * MICROS_A_SECOND);
  }
  vector.size = (<usize>count) << (areDates ? 2 : 3);
  return vector;
}
