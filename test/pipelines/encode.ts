import { parseSent, type SentObject, type SentValue, writeSent } from '../../src/api/client/exact-json.ts';
import type { ColumnDef } from '../../src/declare/column.ts';
import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import type { TableDef } from '../../src/declare/table.ts';
import type { Cell } from '../../src/decode/read-cell.ts';
import type { Row } from '../../tools/object-decoder.ts';

type Tree = { [name: string]: unknown };

/** The records that rows were decoded from, by the declaration alone: the other direction of the decoder. */
export function encodeRecords(
  pipeline: PipelineDef,
  tables: Readonly<Record<string, readonly Row[]>>,
): readonly Tree[] {
  const base = baseOf(pipeline);
  return (tables[base.name] ?? []).map((row) => {
    const record = encodeRow(base, row);
    for (const table of pipeline.tables) {
      if (table.rows.kind === 'nested') nest(record, row, table, tables[table.name] ?? []);
      // A projection holds what the base table has no column for.
      if (table.rows.kind === 'projection') project(record, row, table, tables[table.name] ?? []);
    }
    return record;
  });
}

export function baseOf(pipeline: PipelineDef): TableDef {
  const base = pipeline.tables.find(({ rows }) => rows.kind === 'records');
  if (base === undefined) throw new Error(`${pipeline.name} has no records`);
  return base;
}

function encodeRow(table: TableDef, row: Row): Tree {
  const record: Tree = {};
  // JSON first, so that what typed columns say of its inside has to agree with it.
  const isJson = (def: ColumnDef): boolean => kinds[def.kind].wire === 'json';
  for (const def of [...table.columns].sort((a, b) => Number(isJson(b)) - Number(isJson(a)))) {
    const cell = row[def.name];
    if (def.origin.kind !== 'path' || cell === null || cell === undefined) continue;
    const value = encodeCell(def, cell);
    if (value !== undefined) put(record, def.origin.path, value);
  }
  const extra = row['_extra'];
  if (typeof extra === 'string') {
    const fields = parseSent(Buffer.from(extra), '_extra') as SentObject;
    for (const [pointer, value] of Object.entries(fields)) put(record, pointer, value);
  }
  return record;
}

function nest(record: Tree, parent: Row, table: TableDef, rows: readonly Row[]): void {
  if (table.rows.kind !== 'nested') return;
  const links = table.columns.flatMap(({ name, origin }) =>
    origin.kind === 'parent' ? [[name, origin.column] as const] : [],
  );
  const label = table.columns.find(({ origin }) => origin.kind === 'place')?.name;
  for (const place of table.rows.places) {
    const own = rows.filter(
      (row) =>
        links.every(([name, column]) => row[name] === parent[column]) &&
        (label === undefined || row[label] === place.label),
    );
    const objects = own.map((row) => encodeRow(table, row));
    if (objects.length > 0) put(record, place.path, place.count === 'one' ? objects[0] : objects);
  }
}

function project(record: Tree, base: Row, table: TableDef, rows: readonly Row[]): void {
  const row = rows.find((candidate) => candidate['last_trans_hash'] === base['hash']);
  if (row === undefined) return;
  for (const def of table.columns) {
    const cell = row[def.name];
    if (def.origin.kind !== 'path' || cell === null || cell === undefined) continue;
    put(record, def.origin.path, encodeCell(def, cell));
  }
}

/** A cell as it stood in the answer; undefined for what other columns say in full. */
function encodeCell(def: ColumnDef, cell: Exclude<Cell, null>): unknown {
  const { wire } = kinds[def.kind];
  switch (wire) {
    case 'json':
      return parseSent(Buffer.from(String(cell)), def.name);
    case 'comment':
      return undefined;
    case 'wide-decimal':
      return def.kind === 'decimal-257' ? cell : undefined;
    case 'base64':
      return Buffer.from(cell as Uint8Array).toString('base64');
    case 'decimal-string':
      return String(cell);
    case 'integer':
      return parseSent(Buffer.from(String(cell)), def.name);
    case 'hex-shard':
      return BigInt.asUintN(64, cell as bigint)
        .toString(16)
        .toUpperCase();
    case 'hex-opcode':
      return `0x${BigInt.asUintN(32, cell as bigint)
        .toString(16)
        .padStart(8, '0')}`;
    default:
      return cell;
  }
}

function put(record: Tree, pointer: string, value: unknown): void {
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = record;
  for (const name of names.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Tree;
  }
  at[names.at(-1) ?? ''] = value;
}

/** Text of a value in which null, missing and empty are one, and the order of keys is none. */
export function normalText(value: unknown): string {
  return writeSent((normal(value) ?? null) as SentValue);
}

function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => normal(item) ?? null);
  if (typeof value !== 'object' || value === null || value.constructor !== Object) return value ?? undefined;
  const fields = Object.entries(value)
    .map(([name, inner]) => [name, normal(inner)] as const)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** A record without the fields that its table leaves out. */
export function without(table: TableDef, record: SentValue): unknown {
  const copy = structuredCloneOf(record);
  for (const pointer of Object.keys(table.without)) {
    const names = pointer.slice(1).split('/');
    let at = copy as Tree | undefined;
    for (const name of names.slice(0, -1)) at = at?.[name] as Tree | undefined;
    if (at !== undefined) delete at[names.at(-1) ?? ''];
  }
  return copy;
}

function structuredCloneOf(value: SentValue): unknown {
  return parseSent(Buffer.from(writeSent(value)), 'copy');
}
