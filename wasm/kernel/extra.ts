import { append, appendByte, Column, claim, close, newColumn, TEXTS } from './columns';
import { Block, newBlock, push } from './memory';
import { QUOTE } from './page';
import { Node, Table } from './plan';
import { appendPointer, appendRaw } from './text';

/** Of the fields without a column, those that are counted by name are few, unless a page has nothing but such fields. */
const MAX_COMPARED: usize = 64;

/** A kind of field without a column, and how many there are in a page. */
@unmanaged
class Unknown {
  table: Table;
  count: u32;
  /** Its pointer in `names`. */
  from: usize;
  length: usize;
}

const unknown: Block = newBlock();
const names: Column = newColumn(TEXTS);
/** Fields of the current record: the table, and where the pointer lies in its column of extra fields. */
const met: Block = newBlock();

export function clearUnknown(): void {
  unknown.size = 0;
  names.end = 0;
}

export function clearMet(): void {
  met.size = 0;
}

/** Stores a field without a column, whose name was read into `Text`; fails if the row has one of that name. */
export function addExtra(node: Node, from: usize, to: usize, dirty: bool): bool {
  const table = node.table;
  const column = table.extra;
  const row = table.count;
  if (column.next == row + 1) {
    column.end--;
    appendByte(column, 44);
  } else {
    claim(column, row);
    table.pointers.size = 0;
    appendByte(column, 123);
  }
  appendByte(column, QUOTE);
  const start = column.end;
  writePointer(column, node.pointer, node.pointerLength);
  const end = column.end;
  if (isKnown(table, column.values, start, end)) return false;
  note(table.pointers, start, end);
  appendByte(column, QUOTE);
  appendByte(column, 58);
  appendRaw(column, from, to, dirty);
  appendByte(column, 125);
  close(column, row);
  push(met, sizeof<usize>());
  store<usize>(met.at + met.size - sizeof<usize>(), changetype<usize>(table));
  note(met, start, end);
  return true;
}

function writePointer(column: Column, pointer: usize, length: usize): void {
  append(column, pointer, length);
  appendByte(column, 47);
  appendPointer(column);
}

function note(block: Block, start: usize, end: usize): void {
  const at = push(block, 2 * sizeof<usize>());
  store<usize>(at, start);
  store<usize>(at, end, sizeof<usize>());
}

function isKnown(table: Table, values: usize, start: usize, end: usize): bool {
  const at = table.pointers.at;
  const size = table.pointers.size;
  for (let i = at; i < at + size; i += 2 * sizeof<usize>()) {
    const from = load<usize>(i);
    if (load<usize>(i, sizeof<usize>()) - from != end - start) continue;
    if (memory.compare(values + from, values + start, end - start) == 0) return true;
  }
  return false;
}

/** Counts the fields of a record that was taken. */
export function countMet(): void {
  const step = 3 * sizeof<usize>();
  for (let at = met.at; at < met.at + met.size; at += step) {
    const table = changetype<Table>(load<usize>(at));
    const from = load<usize>(at, sizeof<usize>());
    countOne(table, table.extra.values + from, load<usize>(at, 2 * sizeof<usize>()) - from);
  }
}

/** Counts a field of the response itself, whose name was read into `Text`. */
export function countEnvelope(): void {
  const start = names.end;
  writePointer(names, 0, 0);
  const length = names.end - start;
  names.end = start;
  countOne(changetype<Table>(0), names.values + start, length);
}

function countOne(table: Table, text: usize, length: usize): void {
  const size = offsetof<Unknown>();
  const last = unknown.at + min(unknown.size, MAX_COMPARED * size);
  for (let at = unknown.at; at < last; at += size) {
    const one = changetype<Unknown>(at);
    if (one.table !== table || one.length != length) continue;
    if (memory.compare(names.values + one.from, text, length) != 0) continue;
    one.count++;
    return;
  }
  const one = changetype<Unknown>(push(unknown, size));
  one.table = table;
  one.count = 1;
  one.from = names.end;
  one.length = length;
  append(names, text, length);
}

/** Number of kinds of fields without a column in the page; of many, some are there several times. */
export function unknownCount(): u32 {
  return <u32>(unknown.size / offsetof<Unknown>());
}

export function unknownAt(i: u32): usize {
  return unknown.at + i * offsetof<Unknown>();
}

export function unknownNames(): usize {
  return names.values;
}
