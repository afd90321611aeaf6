import { isUtf8 } from 'node:buffer';
import { DecodeError } from '../core/errors.ts';
import { escapePointer, type Key, type Node, Op, type Plan } from './decode-plan.ts';
import { rawText, undoPlainEscapes } from './json-text.ts';
import { BROKEN, broken, load, page, QUOTE } from './page-buffer.ts';
import { notJson, wrongShape } from './page-errors.ts';
import { readComment, readLeaf } from './read-leaf.ts';
import { REFUSED } from './refused-flag.ts';
import { NULL, skipBlanks, skipValue } from './skip-value.ts';
import type { TableRows } from './table-rows.ts';

/** A record that does not match its declaration. None of its rows are stored. */
export interface RefusedRecord {
  /** Index in the list of records. */
  readonly index: number;
  /** The record as received. */
  readonly raw: string;
  /** JSON pointer of the field at which the scanner stopped, relative to the record. */
  readonly pointer: string;
  readonly expected: string;
}

export interface ScannedPage {
  /** Number of records in the page, including refused ones. */
  readonly records: number;
  readonly refused: readonly RefusedRecord[];
  /** Number of fields without a column, by table and pointer; fields of the response itself are under `envelope`. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** The current or last value; null if a field is missing. */
let stoppedAt: Key | null = null;
/** Required values of the current row so far. */
let required = 0;
let unknown = new Map<string, number>();
/** Fields without a column in the current record. */
let met: string[] = [];
/** Last result of `readName`. */
let lastName = '';

/**
 * Reads a page from its bytes into the columns of the plan's tables.
 *
 * @throws {DecodeError} `not-json` or `null-list` (retryable), or `wrong-shape`; then no row of the page is stored
 */
export function scanPage(plan: Plan, bytes: Uint8Array): ScannedPage {
  const marks = plan.tables.map((rows) => rows.count);
  load(isUtf8(bytes) ? bytes : Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)));
  unknown = new Map();
  try {
    return scanEnvelope(plan);
  } catch (error) {
    truncate(plan, marks);
    throw error === BROKEN ? notJson(plan.pipeline.name, bytes) : error;
  }
}

function truncate(plan: Plan, marks: readonly number[]): void {
  for (const [i, rows] of plan.tables.entries()) rows.truncate(marks[i] as number);
}

function scanEnvelope(plan: Plan): ScannedPage {
  const { bytes } = page;
  const refused: RefusedRecord[] = [];
  let records = -1;
  let at = skipBlanks(0);
  if (bytes[at] !== 123) {
    checkRest(skipValue(at));
    throw wrongShape(plan.pipeline.name, 'an object', 'the top');
  }
  at = skipBlanks(at + 1);
  if (bytes[at] === 125) at++;
  else {
    for (;;) {
      at = readName(at);
      const name = lastName;
      if (name === plan.recordsKey) {
        if (bytes[at] !== 91 || records >= 0) {
          const to = skipValue(at);
          if (bytes.toString('latin1', at, to) === 'null') throw noList(plan);
          throw wrongShape(plan.pipeline.name, 'an array, once,', `/${plan.recordsKey}`);
        }
        at = scanRecords(plan, at, refused);
        records = page.records;
      } else {
        at = skipValue(at);
        if (!plan.ignored.has(name)) count(`envelope /${escapePointer(name)}`);
      }
      at = skipBlanks(at);
      const c = bytes[at];
      if (c !== 125 && c !== 44) broken(at);
      at = skipBlanks(at + 1);
      if (c === 125) break;
    }
  }
  checkRest(at);
  if (records < 0) throw wrongShape(plan.pipeline.name, 'an array', `/${plan.recordsKey}`);
  return { records, refused, unknown };
}

function checkRest(at: number): void {
  const end = skipBlanks(at);
  if (end !== page.end) broken(end);
}

/** Reads a key and its colon into `lastName` and returns the position of the value. */
function readName(from: number): number {
  if (page.bytes[from] !== QUOTE) broken(from);
  page.dirty = false;
  let at = skipValue(from);
  lastName = JSON.parse(rawText(from, at, page.dirty));
  at = skipBlanks(at);
  if (page.bytes[at] !== 58) broken(at);
  return skipBlanks(at + 1);
}

/** Reads the list of records and returns the position after it; their number is in `page.records`. */
function scanRecords(plan: Plan, start: number, refused: RefusedRecord[]): number {
  const { bytes } = page;
  let index = 0;
  let at = skipBlanks(start + 1);
  page.records = 0;
  if (bytes[at] === 93) return at + 1;
  for (;;) {
    at = scanRecord(plan, at, index++, refused);
    at = skipBlanks(at);
    const c = bytes[at];
    if (c === 93) break;
    if (c !== 44) broken(at);
    at = skipBlanks(at + 1);
  }
  page.records = index;
  return at + 1;
}

function scanRecord(plan: Plan, from: number, index: number, refused: RefusedRecord[]): number {
  const marks = plan.tables.map((rows) => rows.count);
  try {
    return scanRow(plan, from);
  } catch (error) {
    if (error !== REFUSED && error !== BROKEN) throw error;
    truncate(plan, marks);
  }
  const to = skipValue(from);
  const raw = page.bytes.toString('utf8', from, to);
  if (undoPlainEscapes(from, to)) {
    try {
      return scanRow(plan, from);
    } catch (error) {
      if (error !== REFUSED) throw error;
      truncate(plan, marks);
    }
  }
  const pointer = stoppedAt?.pointer ?? '';
  refused.push({ index, raw, pointer, expected: stoppedAt?.expected ?? 'an object whose keys come once' });
  return to;
}

function scanRow(plan: Plan, from: number): number {
  const { rows } = plan.root;
  required = 0;
  stoppedAt = null;
  if (met.length > 0) met = [];
  const at = scanObject(plan.root, rows.count, from);
  if (required !== rows.required) refuse();
  rows.count++;
  for (const field of met) count(field);
  return at;
}

function scanObject(node: Node, row: number, start: number): number {
  const { bytes, view } = page;
  if (bytes[start] !== 123) throw REFUSED;
  let at = start + 1;
  if ((bytes[at] as number) <= 32) at = skipBlanks(at);
  if (bytes[at] === 125) return at + 1;
  const object = node.open();
  let before: Key | null = null;
  let key = node.first;
  for (;;) {
    if (key === null || !standsAt(key, view, at)) {
      key = keyAt(node, view, at);
      if (key === null) {
        at = readName(at);
        key = node.byName.get(lastName) ?? null;
      } else at += key.length;
      if (key !== null) {
        if (before === null) node.first = key;
        else before.next = key;
      }
    } else at += key.length;
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
    if (key === null) at = keepUnknown(node, lastName, at);
    else {
      if (key.metIn === object) throw REFUSED;
      key.metIn = object;
      at = scanValue(key, row, at);
      before = key;
    }
    let c = bytes[at] as number;
    if (c <= 32) {
      at = skipBlanks(at);
      c = bytes[at] as number;
    }
    at++;
    if (c === 125) return at;
    if (c !== 44) broken(at);
    if ((bytes[at] as number) <= 32) at = skipBlanks(at);
    key = before === null ? node.first : before.next;
  }
}

/** True if the text at a position is this key with quotes and colon, without whitespace. */
function standsAt(key: Key, view: DataView, from: number): boolean {
  const { words } = key;
  let at = from;
  for (let i = 0; i < words.length; i++, at += 4) if (view.getInt32(at, true) !== words[i]) return false;
  return (view.getInt32(at, true) & key.lastMask) === key.lastWord;
}

function keyAt(node: Node, view: DataView, at: number): Key | null {
  for (const key of node.keys) if (standsAt(key, view, at)) return key;
  return null;
}

function scanValue(key: Key, row: number, at: number): number {
  if (page.bytes[at] === 110) return page.view.getInt32(at, true) === NULL ? at + 4 : broken(at);
  stoppedAt = key;
  required += key.required;
  if (key.raw !== null) return scanKept(key, row, at);
  return key.op < Op.object ? readLeaf(key, row, at) : scanInside(key, row, at);
}

/** A value whose JSON text is stored, in addition to fields inside it. */
function scanKept(key: Key, row: number, from: number): number {
  page.dirty = false;
  const to = skipValue(from);
  const fresh = page.dirty
    ? key.raw?.putText(row, rawText(from, to, true))
    : key.raw?.put(row, page.bytes, page.view, from, to);
  if (fresh !== true) throw REFUSED;
  if (key.op === Op.comment) return readComment(key, row, from, to);
  if (key.op >= Op.object) return scanInside(key, row, from);
  return key.op === Op.skip ? to : readLeaf(key, row, from);
}

function scanInside(key: Key, row: number, start: number): number {
  const { bytes } = page;
  const { node, rows, label } = key;
  if (node === null) throw REFUSED;
  if (rows === null) return node.isKept && bytes[start] !== 123 ? skipValue(start) : scanObject(node, row, start);
  if (key.op === Op.one) return scanNested(node, rows, label, start);
  if (bytes[start] !== 91) throw REFUSED;
  let at = skipBlanks(start + 1);
  if (bytes[at] === 93) return at + 1;
  for (;;) {
    at = skipBlanks(scanNested(node, rows, label, at));
    const c = bytes[at];
    if (c === 93) return at + 1;
    if (c !== 44) broken(at);
    at = skipBlanks(at + 1);
  }
}

function scanNested(node: Node, rows: TableRows, label: Uint8Array, from: number): number {
  const before = required;
  required = 0;
  const at = scanObject(node, rows.openNested(label), from);
  if (required !== rows.required) refuse();
  required = before;
  rows.count++;
  return at;
}

/** Refuses the record, without a specific value. */
function refuse(): never {
  stoppedAt = null;
  throw REFUSED;
}

function keepUnknown(node: Node, name: string, from: number): number {
  page.dirty = false;
  const to = skipValue(from);
  if (node.isKept) return to;
  const pointer = `${node.pointer}/${escapePointer(name)}`;
  if (!node.rows.addExtra(pointer, rawText(from, to, page.dirty))) refuse();
  met.push(`${node.rows.table.name} ${pointer}`);
  return to;
}

function count(field: string): void {
  unknown.set(field, (unknown.get(field) ?? 0) + 1);
}

/** Servers send an empty list for no rows; null is a failed response. */
function noList(plan: Plan): DecodeError {
  const message = `decode ${plan.pipeline.name}: expected an array at /${plan.recordsKey}, got null`;
  return new DecodeError(message, { code: 'null-list', retryable: true });
}
