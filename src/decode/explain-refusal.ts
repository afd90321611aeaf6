import { kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { expectation } from './decode-plan.ts';
import { Misfit, parseExact, readCell, shown, valueAt } from './read-cell.ts';
import type { RefusedRecord } from './scan-page.ts';

/** The short escapes that the server writes, so that raw and escaped values are stored alike. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Why a record could not be decoded. */
export interface Explanation {
  /** JSON pointer from the root of the page: `/transactions/3/lt`. */
  readonly pointer: string;
  /** `expected a decimal string (decimal-int64), got 17 (number)`. */
  readonly reason: string;
}

/** Parses a refused record again, slowly, to find what is wrong with it. */
export function explainRefusal({ tables }: PipelineDef, refused: RefusedRecord): Explanation {
  const base = tables.find(({ rows }) => rows.kind === 'records');
  const place = `${base?.rows.kind === 'records' ? base.rows.path : ''}/${refused.index}`;
  const stopped = (got: string) => ({
    pointer: place + refused.pointer,
    reason: `expected ${refused.expected}, got ${got}`,
  });
  try {
    const record: unknown = parseExact(compactJson(refused.raw));
    for (const table of tables) {
      const fault = faultIn(table, record);
      if (fault === undefined) continue;
      const { pointer, expected } = fault;
      return { pointer: place + pointer, reason: `expected ${expected}, got ${shown(valueAt(record, pointer))}` };
    }
    return stopped('the key twice');
  } catch (error) {
    // Unlike the kernel, the parser calls itself for each level.
    if (error instanceof RangeError) return stopped('a record that is nested too deep to be shown');
    throw error;
  }
}

/** The masterchain block of a refused record; undefined if it cannot be read. */
export function masterchainSeqnoOf({ tables }: PipelineDef, { raw }: RefusedRecord): number | undefined {
  const column = tables[0]?.columns.find(({ name }) => name === 'mc_block_seqno');
  if (column?.origin.kind !== 'path') return undefined;
  const seqno = valueAt(JSON.parse(compactJson(raw)), column.origin.path);
  return Number.isSafeInteger(seqno) ? (seqno as number) : undefined;
}

/** A field that does not match its column. */
interface FieldFault {
  /** Relative to the record. */
  readonly pointer: string;
  readonly expected: string;
}

function faultIn(table: TableDef, record: unknown): FieldFault | undefined {
  const { rows } = table;
  if (rows.kind !== 'nested') return faultInObject(table, record, '');
  for (const { path, count } of rows.places) {
    const found = valueAt(record, path);
    if (found === null || found === undefined) continue;
    if (count === 'many' && !Array.isArray(found)) return { pointer: path, expected: 'an array of objects' };
    const pointers = count === 'one' ? [path] : Object.keys(found).map((at) => `${path}/${at}`);
    for (const pointer of pointers) {
      const fault = faultInObject(table, record, pointer);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** Checks the fields of the object at a pointer. Fields inside stored JSON may have any type. */
function faultInObject({ columns, rows }: TableDef, record: unknown, place: string): FieldFault | undefined {
  if (!isObject(valueAt(record, place))) return { pointer: place, expected: 'an object' };
  const stored = columns.flatMap(({ kind, origin }) =>
    kinds[kind].wire === 'json' && origin.kind === 'path' ? [`${origin.path}/`] : [],
  );
  for (const { kind: name, origin, nullable } of columns) {
    if (origin.kind !== 'path' || stored.some((path) => origin.path.startsWith(path))) continue;
    const kind = kinds[name];
    if (kind.wire === 'json' || kind.wire === 'comment') continue;
    const isOptional = nullable || rows.kind === 'projection';
    const names = origin.path.split('/').slice(1);
    for (const depth of names.keys()) {
      const pointer = `${place}/${names.slice(0, depth + 1).join('/')}`;
      const value = valueAt(record, pointer);
      const isLeaf = depth === names.length - 1;
      const isMissing = value === null || value === undefined;
      if (isMissing && isOptional) break;
      if (isMissing || !(isLeaf ? isReadable(() => readCell(kind, value)) : isObject(value))) {
        return { pointer, expected: isLeaf ? expectation(kind.wire, name) : 'an object' };
      }
    }
  }
  return undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof Misfit) return false;
    throw error;
  }
}

/** Removes whitespace from JSON, and escapes raw control characters in strings. */
function compactJson(text: string): string {
  let out = '';
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (!inString) {
      if (c === '"') inString = true;
      if (c !== ' ' && c !== '\n' && c !== '\r' && c !== '\t') out += c;
    } else if (c === '\\') {
      out += c + text.charAt(++i);
    } else {
      if (c === '"') inString = false;
      out += c < ' ' ? (SHORT_ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : c;
    }
  }
  return out;
}
