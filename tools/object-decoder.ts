import { isLosslessNumber } from 'lossless-json';
import type { ColumnDef } from '../src/declare/column.ts';
import { kinds } from '../src/declare/kind.ts';
import type { PipelineDef } from '../src/declare/pipeline.ts';
import type { TableDef } from '../src/declare/table.ts';
import { type Cell, Misfit, readCell, valueAt } from '../src/decode/read-cell.ts';

// A slow decoder over parsed JSON: tests compare the scanner with it, and the benchmark measures both.

export type Row = Readonly<Record<string, Cell>>;

/** The rows of a parsed page, by table. JSON columns are written by `JSON.stringify`. @throws {Misfit} */
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
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw new Misfit('no object');
  const row: Record<string, Cell> = {};
  for (const def of table.columns) row[def.name] = isOther(table, def, record) ? null : cellOf(def, record, parent, label, row);
  return row;
}

/** True for a field with another JSON type than its column, inside a value whose JSON is stored: null loses nothing. */
function isOther({ columns }: TableDef, { kind, origin }: ColumnDef, record: unknown): boolean {
  if (origin.kind !== 'path') return false;
  const isInside = columns.some(
    (def) => kinds[def.kind].wire === 'json' && def.origin.kind === 'path' && origin.path.startsWith(`${def.origin.path}/`),
  );
  const value = valueAt(record, origin.path);
  if (!isInside || isAbsent(value)) return false;
  switch (kinds[kind].wire) {
    case 'json':
    case 'comment':
      return false;
    case 'boolean':
      return typeof value !== 'boolean';
    case 'integer':
      return typeof value !== 'number' && !isLosslessNumber(value);
    default:
      return typeof value !== 'string';
  }
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
      const seconds = row[def.origin.column];
      if (typeof seconds !== 'bigint') return null;
      return def.kind === 'date' ? seconds / 86_400n : seconds * 1_000_000n;
    }
    case 'ask':
    case 'extra':
      return null;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
