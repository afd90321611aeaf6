import { bitAt, clearBit, setBit } from './bits';
import { resize, takeZeros } from './memory';

/** Rows of the first block of a column. */
const START_ROWS: u32 = 1024;
/** Free bytes behind the used ones: short copies write whole vectors and may exceed the value. */
export const SLACK: usize = 32;

/** Widths of columns that have no fixed number of bytes per row. */
export const TEXTS: u32 = 0;
export const BITS: u32 = 1;

/**
 * A growing column in Arrow's layout. Rows are written in ascending order, each at most once; a skipped row is null. All bits of
 * `validity` are set until a row is skipped, so that writing a value does not touch them.
 */
@unmanaged
export class Column {
  /** Bytes of a value: 4, 8 or 16; {@link TEXTS} or {@link BITS}. */
  width: u32;
  /** Rows that have space. */
  capacity: u32;
  /** The row after the last one written or skipped. */
  next: u32;
  /** Number of null rows before `next`. */
  nulls: u32;
  validity: usize;
  values: usize;
  offsets: usize;
  /** Bytes that `values` has space for, and that are used, of texts. */
  room: usize;
  end: usize;
  /** The next column of the same table. */
  sibling: Column;
}

export function newColumn(width: u32): Column {
  const column = changetype<Column>(takeZeros(offsetof<Column>()));
  column.width = width;
  return column;
}

function bytesOfRows(column: Column, rows: usize): usize {
  return column.width == BITS ? rows >> 3 : rows * column.width + SLACK;
}

function growRows(column: Column, rows: u32): void {
  const before: usize = column.capacity;
  let capacity: usize = max(<usize>START_ROWS, before);
  while (capacity < rows) capacity *= 2;
  const isNew = before == 0;
  column.validity = resize(column.validity, before >> 3, capacity >> 3);
  memory.fill(column.validity + (before >> 3), 255, (capacity - before) >> 3);
  if (column.width == TEXTS) {
    column.offsets = resize(column.offsets, isNew ? 0 : (before + 1) * 4, (capacity + 1) * 4);
    if (isNew) store<u32>(column.offsets, 0);
  } else {
    column.values = resize(column.values, isNew ? 0 : bytesOfRows(column, before), bytesOfRows(column, capacity));
  }
  column.capacity = <u32>capacity;
}

/** Claims a row for a value. */
export function claim(column: Column, row: u32): void {
  if (row != column.next) passTo(column, row);
  if (row >= column.capacity) growRows(column, row + 1);
  column.next = row + 1;
}

/** Sets the rows before `row` to null. */
export function passTo(column: Column, row: u32): void {
  const from = column.next;
  if (row < from) unreachable();
  if (row > column.capacity) growRows(column, row);
  for (let i = from; i < row; i++) clearBit(column.validity, i);
  if (column.width == TEXTS) {
    const end = <u32>column.end;
    for (let i: usize = from; i < row; i++) store<u32>(column.offsets + (i << 2), end, 4);
  }
  column.nulls += row - from;
  column.next = row;
}

export function isSet(column: Column, row: u32): bool {
  return row < column.next && bitAt(column.validity, row);
}

/** Reserves `length` more bytes of a column of texts. */
export function reserve(column: Column, length: usize): void {
  const need = column.end + length + SLACK;
  if (need <= column.room) return;
  const room = max(max(need, column.room * 2), 4096);
  column.values = resize(column.values, column.room, room);
  column.room = room;
}

/** Where the next bytes of a column of texts go. */
export function tip(column: Column): usize {
  return column.values + column.end;
}

/** Ends the text of a claimed row; it began where that of the row before ended. */
export function close(column: Column, row: u32): void {
  store<u32>(column.offsets + ((<usize>row) << 2), <u32>column.end, 4);
}

/** Appends bytes to a column of texts. */
export function append(column: Column, from: usize, length: usize): void {
  reserve(column, length);
  const to = tip(column);
  if (length <= 32) {
    v128.store(to, v128.load(from));
    v128.store(to + 16, v128.load(from + 16));
  } else memory.copy(to, from, length);
  column.end += length;
}

export function appendByte(column: Column, byte: u8): void {
  reserve(column, 1);
  store<u8>(tip(column), byte);
  column.end++;
}

export function putText(column: Column, row: u32, from: usize, length: usize): void {
  claim(column, row);
  append(column, from, length);
  close(column, row);
}

export function putInteger(column: Column, row: u32, value: i64): void {
  claim(column, row);
  const at = column.values + <usize>row * column.width;
  if (column.width == 4) {
    store<i32>(at, <i32>value);
    return;
  }
  store<i64>(at, value);
  if (column.width == 16) store<i64>(at, value >> 63, 8);
}

export function putWide(column: Column, row: u32, low: u64, high: u64): void {
  claim(column, row);
  const at = column.values + ((<usize>row) << 4);
  store<u64>(at, low);
  store<u64>(at, high, 8);
}

export function putBit(column: Column, row: u32, value: bool): void {
  claim(column, row);
  if (value) setBit(column.values, row);
  else clearBit(column.values, row);
}

/** Removes all rows from `rows` on. */
export function truncate(column: Column, rows: u32): void {
  if (column.next <= rows) return;
  for (let row = rows; row < column.next; row++) {
    if (bitAt(column.validity, row)) continue;
    column.nulls--;
    setBit(column.validity, row);
  }
  if (column.width == TEXTS) column.end = load<u32>(column.offsets + ((<usize>rows) << 2));
  column.next = rows;
}

/** Removes all rows but keeps the memory. */
export function clear(column: Column): void {
  memory.fill(column.validity, 255, (column.next + 7) >> 3);
  column.next = 0;
  column.nulls = 0;
  column.end = 0;
}

/** Bytes of the rows so far. */
export function sizeOf(column: Column): usize {
  const rows: usize = column.next;
  if (column.width == TEXTS) return column.end + rows * 4;
  return column.width == BITS ? rows >> 3 : rows * column.width;
}

/** Sets the rows `from` to before `to` of a column to a text. */
export function fillText(column: Column, from: u32, to: u32, text: usize, length: usize): void {
  for (let row = from; row < to; row++) putText(column, row, text, length);
}

/** Sets the rows `from` to before `to` of a column to a number of up to 128 bits. */
export function fillNumber(column: Column, from: u32, to: u32, low: i64, high: i64): void {
  for (let row = from; row < to; row++) {
    if (column.width == 16) putWide(column, row, low, high);
    else putInteger(column, row, low);
  }
}
