import { isUtf8 } from 'node:buffer';
import { DecodeError } from '../errors.ts';
import { rawText } from './jsontext.ts';
import { REFUSED, readLeaf } from './leaf.ts';
import { type Key, type Node, Op, type Plan } from './plan.ts';
import type { TableRows } from './rows.ts';
import { BROKEN, cursor, load, skipBlanks, skipValue } from './skip.ts';

const QUOTE = 34;

/** A record that does not fit its declaration. None of its rows were kept. */
export interface RefusedRecord {
  /** Position in the list of records, from 0. */
  readonly index: number;
  /** The record as it was sent. */
  readonly raw: string;
  /** JSON pointer, relative to the record's row, of the field that the scanner stopped at. */
  readonly pointer: string;
  readonly expected: string;
}

export interface ScannedPage {
  /** Records in the page, refused ones included. */
  readonly records: number;
  readonly refused: readonly RefusedRecord[];
  /** How often a field without a column was met, by table and pointer; the envelope's fields stand under `envelope`. */
  readonly unknown: ReadonlyMap<string, number>;
}

let stoppedAt: Key | null = null;
let required = 0;
let requiredOf: ReadonlyMap<TableRows, number> = new Map();
let unknown = new Map<string, number>();

/**
 * Reads one page straight from its bytes into the columns of the plan's tables.
 *
 * @throws {DecodeError} `not-json` (worth asking again) or `wrong-shape` when the page as a whole is not what the plan says;
 * no row of it is kept then.
 */
export function scanPage(plan: Plan, page: Uint8Array): ScannedPage {
  const marks = plan.tables.map((rows) => rows.count);
  load(isUtf8(page) ? page : Buffer.from(new TextDecoder().decode(page)));
  requiredOf = plan.required;
  unknown = new Map();
  try {
    return scanEnvelope(plan);
  } catch (error) {
    for (const [i, rows] of plan.tables.entries()) rows.truncate(marks[i] as number);
    throw error === BROKEN ? notJson(plan, page) : error;
  }
}

function scanEnvelope(plan: Plan): ScannedPage {
  const refused: RefusedRecord[] = [];
  let records = -1;
  skipBlanks();
  if (cursor.bytes[cursor.at] !== 123) {
    skipValue();
    throw wrongShape(plan, 'an object', '');
  }
  cursor.at++;
  skipBlanks();
  if (cursor.bytes[cursor.at] === 125) cursor.at++;
  else {
    for (;;) {
      const name = keyName();
      if (name === plan.recordsKey && records < 0) {
        if (cursor.bytes[cursor.at] !== 91) {
          skipValue();
          throw wrongShape(plan, 'an array', `/${plan.recordsKey}`);
        }
        records = scanRecords(plan, refused);
      } else {
        skipValue();
        if (!plan.ignored.has(name)) count(`envelope /${name}`);
      }
      skipBlanks();
      const c = cursor.bytes[cursor.at++];
      if (c === 125) break;
      if (c !== 44) throw BROKEN;
      skipBlanks();
    }
  }
  skipBlanks();
  if (cursor.at !== cursor.end) throw BROKEN;
  if (records < 0) throw wrongShape(plan, 'an array', `/${plan.recordsKey}`);
  return { records, refused, unknown };
}

/** Reads a key and its colon; the cursor stands at the value then. */
function keyName(): string {
  const from = cursor.at;
  if (cursor.bytes[from] !== QUOTE) throw BROKEN;
  skipValue();
  const { dirty } = cursor;
  const name: string = JSON.parse(rawText(from, cursor.at, dirty));
  skipBlanks();
  if (cursor.bytes[cursor.at++] !== 58) throw BROKEN;
  skipBlanks();
  return name;
}

function scanRecords(plan: Plan, refused: RefusedRecord[]): number {
  const { root, tables } = plan;
  const main = root.rows;
  let index = 0;
  cursor.at++;
  skipBlanks();
  if (cursor.bytes[cursor.at] === 93) {
    cursor.at++;
    return 0;
  }
  for (;;) {
    const from = cursor.at;
    const marks = tables.map((rows) => rows.count);
    try {
      required = 0;
      stoppedAt = null;
      scanObject(root, main.count);
      if (required !== requiredOf.get(main)) throw REFUSED;
      main.count++;
    } catch (error) {
      if (error !== REFUSED && error !== BROKEN) throw error;
      const at: Key | null = stoppedAt;
      for (const [i, rows] of tables.entries()) rows.truncate(marks[i] as number);
      cursor.at = from;
      cursor.dirty = false;
      skipValue();
      refused.push({
        index,
        raw: cursor.bytes.toString('utf8', from, cursor.at),
        pointer: (at as Key | null)?.pointer ?? '',
        expected: (at as Key | null)?.expected ?? 'a record with all required fields',
      });
    }
    index++;
    skipBlanks();
    const c = cursor.bytes[cursor.at++];
    if (c === 93) return index;
    if (c !== 44) throw BROKEN;
    skipBlanks();
  }
}

function scanObject(node: Node, row: number): void {
  const { bytes } = cursor;
  if (bytes[cursor.at] !== 123) throw REFUSED;
  cursor.at++;
  if ((bytes[cursor.at] as number) <= 32) skipBlanks();
  if (bytes[cursor.at] === 125) {
    cursor.at++;
    return;
  }
  const { keys } = node;
  let expected = 0;
  for (;;) {
    if (bytes[cursor.at] !== QUOTE) throw BROKEN;
    let key = expected < keys.length ? (keys[expected] as Key) : null;
    const start = cursor.at + 1;
    if (key !== null && matches(key, start)) {
      cursor.at = start + key.length + 1;
      if (bytes[cursor.at] === 58) cursor.at++;
      else skipColon();
      if ((bytes[cursor.at] as number) <= 32) skipBlanks();
    } else {
      const name = keyName();
      key = node.byName.get(name) ?? null;
      if (key === null) keepUnknown(node, name);
    }
    if (key !== null) {
      expected = key.next;
      scanValue(key, row);
    }
    let c = bytes[cursor.at] as number;
    if (c <= 32) {
      skipBlanks();
      c = bytes[cursor.at] as number;
    }
    cursor.at++;
    if (c === 125) return;
    if (c !== 44) throw BROKEN;
    if ((bytes[cursor.at] as number) <= 32) skipBlanks();
  }
}

function matches(key: Key, start: number): boolean {
  const { bytes } = cursor;
  const { name, length } = key;
  if (bytes[start + length] !== QUOTE) return false;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}

function skipColon(): void {
  skipBlanks();
  if (cursor.bytes[cursor.at++] !== 58) throw BROKEN;
}

function scanValue(key: Key, row: number): void {
  const c = cursor.bytes[cursor.at];
  if (c === 110) {
    skipValue();
    return;
  }
  stoppedAt = key;
  if (key.raw !== null) {
    scanKept(key, row);
  } else if (key.op < Op.object) {
    readLeaf(key, row);
  } else {
    scanInside(key, row);
  }
  stoppedAt = null;
  required += key.required;
}

/** A value whose JSON text is kept, beside what is read from inside it. */
function scanKept(key: Key, row: number): void {
  const from = cursor.at;
  if (key.op !== Op.skip) {
    if (key.op < Op.object) readLeaf(key, row);
    else scanInside(key, row);
    cursor.at = from;
  }
  cursor.dirty = false;
  skipValue();
  const kept = key.raw;
  if (kept === null) return;
  const fresh = cursor.dirty
    ? kept.putText(row, rawText(from, cursor.at, true))
    : kept.put(row, cursor.bytes, from, cursor.at);
  if (!fresh) throw REFUSED;
}

function scanInside(key: Key, row: number): void {
  const node = key.node as Node;
  if (key.op === Op.object) return scanObject(node, row);
  if (key.op === Op.one) return scanNested(key, node);
  if (cursor.bytes[cursor.at] !== 91) throw REFUSED;
  cursor.at++;
  skipBlanks();
  if (cursor.bytes[cursor.at] === 93) {
    cursor.at++;
    return;
  }
  for (;;) {
    scanNested(key, node);
    skipBlanks();
    const c = cursor.bytes[cursor.at++];
    if (c === 93) return;
    if (c !== 44) throw BROKEN;
    skipBlanks();
  }
}

function scanNested(key: Key, node: Node): void {
  const rows = key.rows as TableRows;
  const before = required;
  required = 0;
  scanObject(node, rows.openNested(key.label));
  if (required !== requiredOf.get(rows)) throw REFUSED;
  required = before;
  rows.count++;
}

function keepUnknown(node: Node, name: string): void {
  const from = cursor.at;
  cursor.dirty = false;
  skipValue();
  const pointer = `${node.pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  node.rows.addExtra(pointer, rawText(from, cursor.at, cursor.dirty));
  count(`${node.rows.table.name} ${pointer}`);
}

function count(field: string): void {
  unknown.set(field, (unknown.get(field) ?? 0) + 1);
}

function wrongShape(plan: Plan, expected: string, pointer: string): DecodeError {
  return new DecodeError(
    `decode ${plan.pipeline.name}: expected ${expected} at ${pointer === '' ? 'the top' : pointer}, got something else`,
    { code: 'wrong-shape', hint: 'is this the base address of a TON Index v3 API?' },
  );
}

function notJson(plan: Plan, page: Uint8Array): DecodeError {
  const start = Buffer.from(page.subarray(0, 60)).toString('utf8').replace(/\s+/g, ' ');
  return new DecodeError(
    `decode ${plan.pipeline.name}: expected JSON, got ${page.length} bytes that are not JSON from byte ${cursor.at} on: ${start}`,
    { code: 'not-json', retryable: true },
  );
}
