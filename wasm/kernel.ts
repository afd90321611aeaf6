// AssemblyScript: pages of JSON to columns in Arrow's layout, by a plan that lies in linear memory. Exported functions take and return
// addresses of the created structures.

import { Op } from './generated/numbering';
import { Column, newColumn, putInteger, putText, putWide, TEXTS } from './kernel/columns';
import { gather as gatherRows, gatherTimes as gatherTimesOf } from './kernel/gather';
import { Block, newBlock } from './kernel/memory';
import { addSortColumn, sortRows } from './kernel/order';
import { open, Page, roomFor } from './kernel/page';
import { clearTable, copy, Key, Node, sizeOfTable, Table, truncateTable } from './kernel/plan';
import { reshape, Shape } from './kernel/reshape';
import { addColumnTo, findMatching, findNested, parentsOf, startsOf } from './kernel/rows';
import { scanPage } from './kernel/scan';

export { unknownAt, unknownCount, unknownNames } from './kernel/extra';
export { setLimit } from './kernel/memory';
export { roomFor } from './kernel/page';
export { addColumn, newKey, newNode, newTable } from './kernel/plan';
export { refusedAt, refusedCount, refusedTexts } from './kernel/refused';
export { matchingRows, nestedRows, roomForRows } from './kernel/rows';
export { recordCount } from './kernel/scan';

// ---- the plan

/** @returns the column of places, if there is one */
export function setTable(table: usize, required: u32, hasPlace: bool): usize {
  const own = changetype<Table>(table);
  own.required = required;
  if (hasPlace) own.place = newColumn(TEXTS);
  return changetype<usize>(own.place);
}

export function setKey(key: usize, op: i32, inner: i32, required: u32, node: usize, table: usize): void {
  const own = changetype<Key>(key);
  own.op = <Op>op;
  own.inner = <Op>inner;
  own.required = required;
  own.node = changetype<Node>(node);
  own.table = changetype<Table>(table);
}

/** Sets where the value of a key goes. */
export function setColumns(key: usize, bytes: usize, numbers: usize, flags: usize, raw: usize): void {
  const own = changetype<Key>(key);
  own.bytes = changetype<Column>(bytes);
  own.numbers = changetype<Column>(numbers);
  own.flags = changetype<Column>(flags);
  own.raw = changetype<Column>(raw);
}

/** Sets the bounds of an integer: halves of 128 bits. */
export function setBounds(key: usize, minLow: i64, minHigh: i64, maxLow: i64, maxHigh: i64): void {
  const own = changetype<Key>(key);
  own.min = minLow;
  own.max = maxLow;
  own.minLow = minLow;
  own.minHigh = minHigh;
  own.maxLow = maxLow;
  own.maxHigh = maxHigh;
}

/** Sets the label of the place at which nested objects stand. */
export function setLabel(key: usize, text: usize, length: usize): void {
  const own = changetype<Key>(key);
  own.label = copy(text, length);
  own.labelLength = length;
}

export function sortBy(table: usize, column: usize, isParents: bool): void {
  addSortColumn(changetype<Table>(table), changetype<Column>(column), isParents);
}

export function newList(): usize {
  return changetype<usize>(newBlock());
}

export function addToList(list: usize, column: usize): void {
  addColumnTo(changetype<Block>(list), column);
}

// ---- pages

/** Scans the page whose bytes were written to `roomFor`. @returns an `Outcome` */
export function scan(envelope: usize, root: usize): i32 {
  return scanPage(changetype<Node>(envelope), changetype<Node>(root));
}

/** Begins with the page whose bytes were written to `roomFor`. @returns a `Reshaped` */
export function load(length: usize, shape: i32): i32 {
  open(roomFor(length), length);
  return shape == 0 ? 0 : reshape(<Shape>shape);
}

/** Byte at which the page is no longer JSON. */
export function brokenAt(): usize {
  return Page.brokenAt - Page.start;
}

// ---- rows

export function rowsIn(table: usize): u32 {
  return changetype<Table>(table).count;
}

export function truncateRows(table: usize, rows: u32): void {
  truncateTable(changetype<Table>(table), rows);
}

export function clearRows(table: usize): void {
  clearTable(changetype<Table>(table));
}

export function bytesIn(table: usize): usize {
  return sizeOfTable(changetype<Table>(table));
}

export function extraOf(table: usize): usize {
  return changetype<usize>(changetype<Table>(table).extra);
}

export function parentRowsOf(table: usize): usize {
  return changetype<Table>(table).parentRows.at;
}

export function nestedStarts(table: usize): usize {
  return startsOf(changetype<Table>(table));
}

/** Sets the rows `from` to before `to` of a column to a text. */
export function fillText(column: usize, from: u32, to: u32, text: usize, length: usize): void {
  for (let row = from; row < to; row++) putText(changetype<Column>(column), row, text, length);
}

/** Sets the rows `from` to before `to` of a column to a number of up to 128 bits. */
export function fillNumber(column: usize, from: u32, to: u32, low: i64, high: i64): void {
  const own = changetype<Column>(column);
  for (let row = from; row < to; row++) {
    if (own.width == 16) putWide(own, row, low, high);
    else putInteger(own, row, low);
  }
}

export function sort(table: usize, rows: usize, count: u32): void {
  sortRows(changetype<Table>(table), rows, count);
}

export function nestedIn(table: usize, rows: usize, count: u32): u32 {
  return findNested(changetype<Table>(table), rows, count);
}

export function parentsIn(table: usize, rows: usize, count: u32): usize {
  return parentsOf(changetype<Table>(table), rows, count);
}

export function matchingIn(list: usize, rows: usize, count: u32): u32 {
  return findMatching(changetype<Block>(list), rows, count);
}

export function gather(column: usize, rows: usize, count: u32): usize {
  return changetype<usize>(gatherRows(changetype<Column>(column), rows, count));
}

export function gatherTimes(column: usize, rows: usize, count: u32, areDates: bool): usize {
  return changetype<usize>(gatherTimesOf(changetype<Column>(column), rows, count, areDates));
}
