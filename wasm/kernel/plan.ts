import { Op } from '../generated/numbering';
import { Column, clear, newColumn, sizeOf, TEXTS, truncate } from './columns';
import { Block, newBlock, take, takeZeros } from './memory';

/** The rows of records, or of objects nested in them. */
@unmanaged
export class Table {
  /** Number of complete rows. */
  count: u32;
  /** Number of required values per row. */
  required: u32;
  columns: Column;
  /** Fields without a column, as one JSON object per row. */
  extra: Column;
  /** Where the pointers of the current row's extra fields lie in `extra`: start and end of each. */
  pointers: Block;
  /** The label of each row's place in its parent, if it is stored. */
  place: Column;
  parent: Table;
  /** Row of the parent that each row is nested in, as u32. */
  parentRows: Block;
  /** For each row of the parent, the first row nested in it or in a later one. */
  starts: Block;
  sibling: Table;
  /** The columns that it is sorted by. */
  order: Block;
  /** Number of rows before the current record. */
  mark: u32;
}

/** An object of known keys. */
@unmanaged
export class Node {
  first: Key;
  /** The key that came first last time. */
  predicted: Key;
  table: Table;
  /** The JSON text of the object is stored, including fields without a column. */
  isStored: bool;
  /** Number of objects read, to detect duplicate keys. */
  objects: u32;
  /** JSON pointer of the object, inside a JSON string. */
  pointer: usize;
  pointerLength: usize;
}

/** A known key of an object; `"name":` and the mask of its first 32 bytes lie behind the fields. */
@unmanaged
export class Key {
  /** The key that followed this one last time: servers write keys in constant order. */
  next: Key;
  /** Number of the object in which this key occurred last. */
  metIn: u32;
  op: Op;
  /** What `lenient` does with a value of the expected JSON type. */
  inner: Op;
  /** 1 if the value is required. */
  required: u32;
  /** Bytes of `"name":`. */
  length: usize;
  bytes: Column;
  numbers: Column;
  flags: Column;
  /** Column for the JSON text of the value, in addition to `op`. */
  raw: Column;
  node: Node;
  table: Table;
  label: usize;
  labelLength: usize;
  number: u32;
  /** Bounds of an integer. */
  minLow: u64;
  minHigh: u64;
  maxLow: u64;
  maxHigh: u64;
  sibling: Key;
}

const TEXT: usize = (offsetof<Key>() + 15) & ~15;
const MASK: usize = 32;

let firstTable: Table = changetype<Table>(0);

/** @param parent 0 for the table of records */
export function newTable(parent: Table): Table {
  const table = changetype<Table>(takeZeros(offsetof<Table>()));
  table.extra = newColumn(TEXTS);
  table.pointers = newBlock();
  table.parent = parent;
  table.parentRows = newBlock();
  table.starts = newBlock();
  table.order = newBlock();
  table.sibling = firstTable;
  firstTable = table;
  return table;
}

/** @returns the column of places, if there is one */
export function setTable(table: Table, required: u32, hasPlace: bool): Column {
  table.required = required;
  if (hasPlace) table.place = newColumn(TEXTS);
  return table.place;
}

/** Adds a column to a table. */
export function addColumn(table: Table, width: u32): Column {
  const column = newColumn(width);
  column.sibling = table.columns;
  table.columns = column;
  return column;
}

export function newNode(table: Table, pointer: usize, pointerLength: usize, isStored: bool): Node {
  const node = changetype<Node>(takeZeros(offsetof<Node>()));
  node.table = table;
  node.pointer = copy(pointer, pointerLength);
  node.pointerLength = pointerLength;
  node.isStored = isStored;
  return node;
}

/** Adds a key to a node; `text` is `"name":`. */
export function newKey(node: Node, number: u32, text: usize, length: usize): Key {
  const address = takeZeros(TEXT + MASK + max(length, 32) + 32);
  const key = changetype<Key>(address);
  key.number = number;
  key.length = length;
  memory.fill(address + TEXT, 255, min(length, 32));
  memory.copy(address + TEXT + MASK, text, length);
  if (changetype<usize>(node.first) == 0) node.first = key;
  else {
    let last = node.first;
    while (changetype<usize>(last.sibling)) last = last.sibling;
    last.sibling = key;
  }
  return key;
}

export function setKey(key: Key, op: Op, inner: Op, required: u32, node: Node, table: Table): void {
  key.op = op;
  key.inner = inner;
  key.required = required;
  key.node = node;
  key.table = table;
}

/** Sets where the value of a key goes. */
export function setColumns(key: Key, bytes: Column, numbers: Column, flags: Column, raw: Column): void {
  key.bytes = bytes;
  key.numbers = numbers;
  key.flags = flags;
  key.raw = raw;
}

/** Sets the bounds of an integer: halves of 128 bits. */
export function setBounds(key: Key, minLow: i64, minHigh: i64, maxLow: i64, maxHigh: i64): void {
  key.minLow = minLow;
  key.minHigh = minHigh;
  key.maxLow = maxLow;
  key.maxHigh = maxHigh;
}

/** Sets the label of the place at which nested objects stand. */
export function setLabel(key: Key, text: usize, length: usize): void {
  key.label = copy(text, length);
  key.labelLength = length;
}

function copy(from: usize, length: usize): usize {
  const to = take(length + 32);
  memory.copy(to, from, length);
  return to;
}

/** Starts an object and returns its number. */
export function nextObject(node: Node): u32 {
  if (node.objects == u32.MAX_VALUE) {
    for (let key = node.first; changetype<usize>(key); key = key.sibling) key.metIn = 0;
    node.objects = 0;
  }
  return ++node.objects;
}

/** True if the text at a position is this key with quotes and colon, without whitespace. */
export function standsAt(key: Key, at: usize): bool {
  const text = changetype<usize>(key) + TEXT;
  const low = v128.and(v128.xor(v128.load(at), v128.load(text, 32)), v128.load(text));
  if (v128.any_true(low)) return false;
  const length = key.length;
  if (length <= 16) return true;
  const high = v128.and(v128.xor(v128.load(at, 16), v128.load(text, 48)), v128.load(text, 16));
  if (v128.any_true(high)) return false;
  return length <= 32 || memory.compare(at + 32, text + 64, length - 32) == 0;
}

/** The key whose text is at a position, if any. */
export function keyAt(node: Node, at: usize): Key {
  let key = node.first;
  while (changetype<usize>(key) && !standsAt(key, at)) key = key.sibling;
  return key;
}

/** The bytes of a key's name, `length - 3` of them. */
export function nameOf(key: Key): usize {
  return changetype<usize>(key) + TEXT + MASK + 1;
}

/** Notes how many rows the tables have before a record. */
export function markTables(): void {
  for (let table = firstTable; changetype<usize>(table); table = table.sibling) table.mark = table.count;
}

/** Removes the rows since then. */
export function rollBack(): void {
  for (let table = firstTable; changetype<usize>(table); table = table.sibling) truncateTable(table, table.mark);
}

export function truncateTable(table: Table, rows: u32): void {
  for (let at = table.columns; changetype<usize>(at); at = at.sibling) truncate(at, rows);
  truncate(table.extra, rows);
  if (changetype<usize>(table.place)) truncate(table.place, rows);
  table.count = min(table.count, rows);
  table.starts.size = 0;
}

export function clearTable(table: Table): void {
  for (let at = table.columns; changetype<usize>(at); at = at.sibling) clear(at);
  clear(table.extra);
  if (changetype<usize>(table.place)) clear(table.place);
  table.count = 0;
  table.starts.size = 0;
}

/** Bytes of the rows so far. */
export function sizeOfTable(table: Table): usize {
  let bytes: usize = table.count * 4;
  if (changetype<usize>(table.place)) bytes += sizeOf(table.place);
  for (let at = table.columns; changetype<usize>(at); at = at.sibling) bytes += sizeOf(at);
  return bytes;
}

export function rowsIn(table: Table): u32 {
  return table.count;
}

export function extraOf(table: Table): Column {
  return table.extra;
}

export function parentRowsOf(table: Table): usize {
  return table.parentRows.at;
}
