import { Op } from '../generated/numbering';
import { claim, close, putText } from './columns';
import { addExtra, clearMet, clearUnknown, countEnvelope, countMet } from './extra';
import { readComment, readLeaf } from './leaf';
import { fit } from './memory';
import { BACKSLASH, broken, Failure, Page, QUOTE, refused } from './page';
import { Key, keyAt, markTables, Node, nameOf, nextObject, rollBack, standsAt, Table } from './plan';
import { addRefused, clearRefused, dropRaw, keepRaw } from './refused';
import { hexAt, NULL, skipBlanks, skipName, skipValue } from './skip';
import { appendRaw, Text } from './text';

/** What came of a page. */
export enum Outcome {
  done = 0,
  notJson = 1,
  notObject = 2,
  nullList = 3,
  notList = 4,
  noList = 5,
}

/** The key of the value that is read, or was read last; null for a value that is not there. */
let stoppedAt: Key = changetype<Key>(0);
/** Required values of the current row so far. */
let required: u32 = 0;
let records: u32 = 0;

/** Number of records in the last page. */
export function recordCount(): u32 {
  return records;
}

/** Reads a page into the columns. @param envelope the known keys of the response */
export function scanPage(envelope: Node, root: Node): Outcome {
  clearUnknown();
  clearRefused();
  records = 0;
  let at = skipBlanks(Page.start);
  if (load<u8>(at) != 123) return isRest(skipValue(at)) ? Outcome.notObject : Outcome.notJson;
  let isFound = false;
  at = skipBlanks(at + 1);
  if (load<u8>(at) == 125) at++;
  else {
    while (true) {
      const name = at;
      at = skipName(at);
      if (at == 0) return Outcome.notJson;
      Text.read(name);
      const key = namedKey(envelope);
      if (changetype<usize>(key) && key.op == Op.records) {
        if (isFound || load<u8>(at) != 91) return wrongList(at);
        isFound = true;
        at = scanRecords(root, at);
      } else {
        at = skipValue(at);
        if (at != 0 && changetype<usize>(key) == 0) countEnvelope();
      }
      if (at == 0) return Outcome.notJson;
      at = skipBlanks(at);
      const c = load<u8>(at);
      if (c != 125 && c != 44) return notJson(at);
      at = skipBlanks(at + 1);
      if (c == 125) break;
    }
  }
  if (!isRest(at)) return Outcome.notJson;
  return isFound ? Outcome.done : Outcome.noList;
}

function notJson(at: usize): Outcome {
  broken(at);
  return Outcome.notJson;
}

function wrongList(at: usize): Outcome {
  const to = skipValue(at);
  if (to == 0) return Outcome.notJson;
  return to - at == 4 && load<u32>(at) == NULL ? Outcome.nullList : Outcome.notList;
}

function isRest(at: usize): bool {
  if (at == 0) return false;
  const end = skipBlanks(at);
  if (end == Page.end) return true;
  broken(end);
  return false;
}

/** The key of the name in `Text`, if it is known. */
function namedKey(node: Node): Key {
  let key = node.first;
  while (changetype<usize>(key) && !Text.is(nameOf(key), key.length - 3)) key = key.sibling;
  return key;
}

function scanRecords(root: Node, start: usize): usize {
  let at = skipBlanks(start + 1);
  if (load<u8>(at) == 93) return at + 1;
  while (true) {
    at = scanRecord(root, at, records++);
    if (at == 0) return 0;
    at = skipBlanks(at);
    const c = load<u8>(at);
    if (c == 93) return at + 1;
    if (c != 44) return broken(at);
    at = skipBlanks(at + 1);
  }
}

function scanRecord(root: Node, from: usize, index: u32): usize {
  markTables();
  let at = scanRow(root, from);
  if (at != 0) return at;
  rollBack();
  const to = skipValue(from);
  if (to == 0) return 0;
  const raw = keepRaw(from, to);
  if (undoPlainEscapes(from, to)) {
    at = scanRow(root, from);
    if (at != 0) {
      dropRaw(raw);
      return at;
    }
    if (Page.failure == Failure.broken) return 0;
    rollBack();
  }
  addRefused(index, stoppedKey(), raw, to - from);
  return to;
}

/**
 * Replaces escapes of printable ASCII by the characters, padded with spaces, because hashes and numbers are read without unescaping.
 * False if there are none.
 */
function undoPlainEscapes(from: usize, to: usize): bool {
  let end = from;
  for (let at = from; at < to; ) {
    const c = load<u8>(at++);
    if (c != BACKSLASH) {
      store<u8>(end++, c);
      continue;
    }
    const letter = load<u8>(at++);
    const plain = letter == 47 ? 47 : letter == 117 ? plainAt(at) : 0;
    if (plain == 0) {
      store<u8>(end++, BACKSLASH);
      store<u8>(end++, letter);
    } else {
      store<u8>(end++, plain);
      if (letter == 117) at += 4;
    }
  }
  memory.fill(end, 32, to - end);
  return end != to;
}

/** The printable character of the four hex digits at a position; 0 for others. */
function plainAt(at: usize): u8 {
  const tens = hexAt(at + 2);
  const code = <u8>((tens << 4) | hexAt(at + 3));
  const isPlain = load<u16>(at) == 0x3030 && tens >= 2 && tens <= 7;
  return isPlain && code != QUOTE && code != BACKSLASH && code != 127 ? code : 0;
}

/** Number of the key at which a record was refused, or -1. */
function stoppedKey(): i32 {
  return changetype<usize>(stoppedAt) ? <i32>stoppedAt.number : -1;
}

/** Refuses the record, without a specific value. */
function refuse(): usize {
  stoppedAt = changetype<Key>(0);
  return refused();
}

function scanRow(root: Node, from: usize): usize {
  const table = root.table;
  required = 0;
  stoppedAt = changetype<Key>(0);
  clearMet();
  const at = scanObject(root, table.count, from);
  if (at == 0) return 0;
  if (required != table.required) return refuse();
  table.count++;
  countMet();
  return at;
}

function scanObject(node: Node, row: u32, start: usize): usize {
  if (load<u8>(start) != 123) return refused();
  let at = skipBlanks(start + 1);
  if (load<u8>(at) == 125) return at + 1;
  const object = nextObject(node);
  let before = changetype<Key>(0);
  let key = node.predicted;
  while (true) {
    if (changetype<usize>(key) && standsAt(key, at)) at = skipBlanks(at + key.length);
    else {
      key = keyAt(node, at);
      if (changetype<usize>(key)) at = skipBlanks(at + key.length);
      else {
        const name = at;
        at = skipName(at);
        if (at == 0) return 0;
        Text.read(name);
        key = namedKey(node);
      }
      if (changetype<usize>(key)) {
        if (changetype<usize>(before)) before.next = key;
        else node.predicted = key;
      }
    }
    if (changetype<usize>(key) == 0) at = keepUnknown(node, at);
    else {
      if (key.metIn == object) return refused();
      key.metIn = object;
      at = scanValue(key, row, at);
      before = key;
    }
    if (at == 0) return 0;
    at = skipBlanks(at);
    const c = load<u8>(at);
    if (c == 125) return at + 1;
    if (c != 44) return broken(at + 1);
    at = skipBlanks(at + 1);
    key = changetype<usize>(before) ? before.next : node.predicted;
  }
}

function scanValue(key: Key, row: u32, at: usize): usize {
  if (load<u8>(at) == 110) return load<u32>(at) == NULL ? at + 4 : broken(at);
  stoppedAt = key;
  required += key.required;
  if (changetype<usize>(key.raw)) return scanKept(key, row, at);
  return key.op < Op.object ? readLeaf(key, row, at, key.op) : scanInside(key, row, at);
}

/** A value whose JSON text is stored, in addition to fields inside it. */
function scanKept(key: Key, row: u32, from: usize): usize {
  Page.dirty = false;
  const to = skipValue(from);
  if (to == 0) return 0;
  const column = key.raw;
  claim(column, row);
  appendRaw(column, from, to, Page.dirty);
  close(column, row);
  if (key.op == Op.comment) return readComment(key, row, from, to);
  if (key.op >= Op.object) return scanInside(key, row, from);
  return key.op == Op.skip ? to : readLeaf(key, row, from, key.op);
}

function scanInside(key: Key, row: u32, start: usize): usize {
  const node = key.node;
  if (changetype<usize>(key.table) == 0) {
    return node.isStored && load<u8>(start) != 123 ? skipValue(start) : scanObject(node, row, start);
  }
  if (key.op == Op.one) return scanNested(key, start);
  if (load<u8>(start) != 91) return refused();
  let at = skipBlanks(start + 1);
  if (load<u8>(at) == 93) return at + 1;
  while (true) {
    at = scanNested(key, at);
    if (at == 0) return 0;
    at = skipBlanks(at);
    const c = load<u8>(at);
    if (c == 93) return at + 1;
    if (c != 44) return broken(at);
    at = skipBlanks(at + 1);
  }
}

function scanNested(key: Key, from: usize): usize {
  const before = required;
  required = 0;
  const table = key.table;
  const at = scanObject(key.node, openNested(table, key), from);
  if (at == 0) return 0;
  if (required != table.required) return refuse();
  required = before;
  table.count++;
  return at;
}

/** Starts a nested row and returns its number. */
function openNested(table: Table, key: Key): u32 {
  const row = table.count;
  fit(table.parentRows, (<usize>row + 1) * 4);
  store<u32>(table.parentRows.at + ((<usize>row) << 2), table.parent.count);
  if (changetype<usize>(table.place)) putText(table.place, row, key.label, key.labelLength);
  return row;
}

/** Keeps a field without a column, whose name was read into `Text`. */
function keepUnknown(node: Node, from: usize): usize {
  Page.dirty = false;
  const to = skipValue(from);
  if (to == 0 || node.isStored) return to;
  return addExtra(node, from, to, Page.dirty) ? to : refuse();
}
