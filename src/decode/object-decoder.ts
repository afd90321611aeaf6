import type { ColumnDef } from '../declare/column.ts';
import { type Kind, kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { Literal } from './json-text.ts';
import { commentOf } from './read-leaf.ts';

/** A value of a row read through `JSON.parse`: the slow, plain reading of a declaration, an oracle for the scanner. */
export type Cell = string | bigint | boolean | Uint8Array | null;
export type Row = Readonly<Record<string, Cell>>;

/** Thrown for a value that is not what its kind says. */
export class Misfit extends Error {}

/** All rows that a parsed page gives, by table. JSON columns come as `JSON.stringify` writes them. @throws {Misfit} */
export function rowsOfPage(pipeline: PipelineDef, page: unknown): Readonly<Record<string, readonly Row[]>> {
  const base = pipeline.tables.find((table) => table.rows.kind === 'records') as TableDef;
  const records = valueAt(page, base.rows.kind === 'records' ? base.rows.path : '') as readonly unknown[];
  const rows: Record<string, Row[]> = {};
  for (const table of pipeline.tables)
    rows[table.name] = records.flatMap((record) => rowsOfRecord(table, base, record));
  return rows;
}

function rowsOfRecord(table: TableDef, base: TableDef, record: unknown): readonly Row[] {
  const { rows } = table;
  switch (rows.kind) {
    case 'records':
      return [rowOf(table, record, {}, '')];
    case 'projection': {
      const row = rowOf(table, record, {}, '');
      return rows.anyOf.some((name) => row[name] !== null) ? [row] : [];
    }
    case 'nested': {
      const parent = rowOf(base, record, {}, '');
      return rows.places.flatMap((place) => {
        const found = valueAt(record, place.path);
        const objects =
          place.count === 'one' ? (isAbsent(found) ? [] : [found]) : ((found as readonly unknown[] | null) ?? []);
        return objects.map((object) => rowOf(table, object, parent, place.label));
      });
    }
  }
}

function rowOf(table: TableDef, record: unknown, parent: Row, label: string): Row {
  const row: Record<string, Cell> = {};
  for (const def of table.columns) row[def.name] = cellOf(def, record, parent, label, row);
  return row;
}

function cellOf(def: ColumnDef, record: unknown, parent: Row, label: string, row: Row): Cell {
  switch (def.origin.kind) {
    case 'path': {
      const value = valueAt(record, def.origin.path);
      if (!isAbsent(value)) return readCell(kinds[def.kind], value);
      if (def.nullable) return null;
      throw new Misfit(`nothing at ${def.origin.path}`);
    }
    case 'parent':
      return parent[def.origin.column] ?? null;
    case 'place':
      return label;
    case 'time': {
      const seconds = row[def.origin.column] as bigint;
      return def.kind === 'date' ? seconds / 86_400n : seconds * 1_000_000n;
    }
    case 'ask':
    case 'extra':
      return null;
  }
}

/** The value at a JSON pointer; undefined where there is nothing. */
export function valueAt(record: unknown, pointer: string): unknown {
  let value = record;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Reads one JSON value as its kind says. @throws {Misfit} */
export function readCell(kind: Kind, value: unknown): Cell {
  switch (kind.wire) {
    case 'string':
      return checked(value, typeof value === 'string' ? wellFormed(value) : undefined);
    case 'hash-string':
      return checked(value, isText(value, /^[A-Za-z0-9+/]{43}=$/));
    case 'decimal-string': {
      const digits = isText(value, /^(0|-?[1-9][0-9]*)$/);
      return checked(value, digits === undefined ? undefined : inBounds(kind, BigInt(digits)));
    }
    case 'wide-decimal': {
      const digits = isText(value, /^(0|-?[1-9][0-9]*)$/);
      if (kind.physical === 'utf8' || digits === undefined) return checked(value, digits);
      return inBounds(kind, BigInt(digits)) ?? null;
    }
    case 'integer': {
      const whole = integerOf(value);
      return checked(value, whole === undefined ? undefined : inBounds(kind, whole));
    }
    case 'boolean':
      return checked(value, typeof value === 'boolean' ? value : undefined);
    case 'hex-shard': {
      const digits = isText(value, /^[0-9A-Fa-f]{1,16}$/);
      return checked(value, digits === undefined ? undefined : BigInt.asIntN(64, BigInt(`0x${digits}`)));
    }
    case 'hex-opcode': {
      const digits = isText(value, /^0x[0-9A-Fa-f]{8}$/);
      return checked(value, digits === undefined ? undefined : BigInt.asIntN(32, BigInt(digits)));
    }
    case 'base64': {
      const text = isText(value, /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
      return checked(value, text === undefined ? undefined : new Uint8Array(Buffer.from(text, 'base64')));
    }
    case 'json':
      return JSON.stringify(value);
    case 'comment': {
      const comment = commentOf(value);
      return comment === undefined ? null : wellFormed(comment);
    }
  }
}

function checked<T>(value: unknown, read: T | undefined): T {
  if (read === undefined) throw new Misfit(shown(value));
  return read;
}

function isText(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
}

/** A whole number, as a double or as it was sent. */
function integerOf(value: unknown): bigint | undefined {
  if (value instanceof Literal) return /^-?[1-9]\d*$/.test(value.text) ? BigInt(value.text) : undefined;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

function inBounds(kind: Kind, value: bigint): bigint | undefined {
  const bits = kind.physical === 'int32' ? 31n : 63n;
  const { min = -(2n ** bits), max = 2n ** bits - 1n } = kind;
  return value >= min && value <= max ? value : undefined;
}

/** A lone surrogate becomes U+FFFD, as in every UTF-8 encoder. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** A value as error messages show it: `17 (number)`. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Literal) return `${value.text} (number)`;
  const text = JSON.stringify(value);
  const cut = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return value === null ? 'null' : `${cut} (${Array.isArray(value) ? 'array' : typeof value})`;
}
