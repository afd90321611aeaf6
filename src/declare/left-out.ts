import type { ColumnDef } from './column.ts';
import { ownColumns, valueColumns } from './cross-check.ts';
import { kinds } from './kind.ts';
import type { PipelineDef } from './pipeline.ts';
import { COUNTING_COLUMNS, ROLES, type RoleName } from './roles.ts';
import type { LeftOut, SkippedField, TableDef } from './table.ts';
import { type Proof, requestedColumns } from './walk.ts';

/** All columns of a table, and the table itself. */
export const WHOLE = '*';

/** Role whose columns the main table of a masterchain walk must have, even if it does not play that role. */
export const PROVEN_AS: Readonly<Record<Proof, RoleName>> = { links: 'headers', tx_count: 'counted' };

/** True if a whole table is left out. */
export function isLeftOut(leftOut: LeftOut | undefined, table: string): boolean {
  return leftOut?.[table]?.includes(WHOLE) === true;
}

/** True if `outer` leaves out everything that `inner` does: rows stored without `inner` then satisfy a request without `outer`. */
export function isWithin(inner: LeftOut | undefined, outer: LeftOut | undefined): boolean {
  return Object.entries(inner ?? {}).every(([table, columns]) => {
    const others = outer?.[table] ?? [];
    return others.includes(WHOLE) || columns.every((column) => others.includes(column));
  });
}

export function isSameSelection(a: LeftOut | undefined, b: LeftOut | undefined): boolean {
  return isWithin(a, b) && isWithin(b, a);
}

/** Columns that all of them leave out; undefined for none. */
export function commonLeftOut(all: readonly (LeftOut | undefined)[]): LeftOut | undefined {
  const [first, ...rest] = all;
  return rest.reduce((common, next) => {
    const entries = Object.entries(common ?? {}).map(([table, columns]) => {
      const others = next?.[table] ?? [];
      if (others.includes(WHOLE)) return [table, columns] as const;
      return [table, columns.includes(WHOLE) ? others : columns.filter((column) => others.includes(column))] as const;
    });
    return leftOutOf(Object.fromEntries(entries));
  }, first);
}

/** Normalized, so that equal selections have equal JSON; undefined for an empty one. */
export function leftOutOf(columns: LeftOut): LeftOut | undefined {
  const entries = Object.entries(columns)
    .filter(([, names]) => names.length > 0)
    .map(([table, names]) => [table, names.includes(WHOLE) ? [WHOLE] : [...new Set(names)].sort()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The part for some tables. */
function leftOutOfTables(leftOut: LeftOut | undefined, tables: readonly string[]): LeftOut | undefined {
  return leftOutOf(Object.fromEntries(Object.entries(leftOut ?? {}).filter(([table]) => tables.includes(table))));
}

/** `account_states, messages.body_boc`. */
export function formatLeftOut(leftOut: LeftOut): string {
  return Object.entries(leftOut)
    .flatMap(([table, columns]) => columns.map((column) => (column === WHOLE ? table : `${table}.${column}`)))
    .join(', ');
}

/** Columns that every export has: key, sort order, time, request properties and those that prove the rows. */
export function fixedColumns(
  { tables, walk, crossCheck }: PipelineDef,
  table: TableDef,
  leftOut: LeftOut | undefined,
): ReadonlySet<string> {
  const { key, sort, time, columns, rows } = table;
  const fixed = new Set([...key, ...sort, ...(time === undefined ? [] : [time])]);
  const isMain = rows.kind === 'records';
  for (const { name, origin } of columns) {
    if (origin.kind === 'time' || origin.kind === 'ask' || origin.kind === 'place') fixed.add(name);
    if (origin.kind === 'parent' && origin.column === 'mc_block_seqno') fixed.add(name);
  }
  const needed = [
    ...(table.plays === undefined ? [] : ROLES[table.plays].kept),
    ...(isMain && crossCheck !== undefined ? [...ownColumns(crossCheck), ...valueColumns(crossCheck)] : []),
    ...(walk.kind === 'masterchain' && isMain ? ROLES[PROVEN_AS[walk.proof]].kept : []),
    ...(walk.kind === 'masterchain' && isMain && hasNested(tables, table.name, leftOut) ? COUNTING_COLUMNS : []),
    ...(walk.kind === 'block' && isMain ? [walk.column] : []),
    ...(walk.kind === 'snapshot' && walk.newer !== undefined && isMain ? [walk.newer] : []),
  ];
  for (const name of needed) if (columns.some((column) => column.name === name)) fixed.add(name);
  return fixed;
}

function hasNested(tables: readonly TableDef[], of: string, leftOut: LeftOut | undefined): boolean {
  return tables.some(({ name, rows }) => rows.kind === 'nested' && rows.of === of && !isLeftOut(leftOut, name));
}

/** A table with the columns that are exported. */
export function narrowTable(table: TableDef, leftOut: LeftOut | undefined): TableDef {
  const names = leftOut?.[table.name];
  if (names === undefined) return table;
  return { ...table, columns: table.columns.filter(({ name }) => !names.includes(name) && !names.includes(WHOLE)) };
}

/** The tables with rows in some entries, with the columns stored there. */
export function storedTables(
  entries: readonly { readonly tables: Readonly<Record<string, unknown>>; readonly without?: LeftOut | undefined }[],
  tables: readonly TableDef[],
): readonly TableDef[] {
  return tables
    .filter(({ name }) => entries.some((entry) => entry.tables[name] !== undefined))
    .map((table) => narrowTable(table, entries[0]?.without));
}

/**
 * A pipeline without the columns that are left out. They are not decoded, unless a remaining table is derived from them, or they show
 * whether a row was requested; their fields stay known, so that they do not appear in `_extra`.
 */
export function narrowPipeline<P extends PipelineDef>(pipeline: P, leftOut: LeftOut | undefined): P {
  const own = leftOutOfTables(
    leftOut,
    pipeline.tables.map(({ name }) => name),
  );
  if (own === undefined) return pipeline;
  const stay = pipeline.tables.filter(({ name }) => !isLeftOut(own, name));
  const requested = new Set(requestedColumns(pipeline.walk));
  const tables = stay.map((table): TableDef => {
    const unwritten = columnsOf(table, own).filter(
      ({ name }) => isUsed(table, name, stay, own) || (table.rows.kind === 'records' && requested.has(name)),
    );
    const projected = pipeline.tables.filter(({ rows }) => rows.kind === 'projection' && rows.of === table.name);
    return {
      ...narrowTable(table, own),
      unwritten,
      skipped: [
        ...[table, ...projected].flatMap((each) => columnsOf(each, own)).flatMap(fieldOf),
        ...pipeline.tables.flatMap((each) => placesIn(each, table.name, own)),
      ],
    };
  });
  return { ...pipeline, tables, leftOut: own };
}

/** Columns of a table that are left out. */
function columnsOf({ name, columns }: TableDef, leftOut: LeftOut): readonly ColumnDef[] {
  const names = leftOut[name] ?? [];
  return columns.filter((column) => names.includes(column.name) || names.includes(WHOLE));
}

/** True if exported rows depend on a column: nested rows repeat it, projected rows exist where it is set. */
function isUsed(table: TableDef, column: string, stay: readonly TableDef[], leftOut: LeftOut): boolean {
  if (table.rows.kind === 'projection') return table.rows.anyOf.includes(column);
  return stay
    .filter(({ rows }) => rows.kind === 'nested' && rows.of === table.name)
    .flatMap((nested) => narrowTable(nested, leftOut).columns)
    .some(({ origin }) => origin.kind === 'parent' && origin.column === column);
}

function fieldOf({ origin, kind }: ColumnDef): readonly SkippedField[] {
  return origin.kind === 'path' ? [{ path: origin.path, isWhole: kinds[kind].wire === 'json' }] : [];
}

/** Places of a nested table that is left out. */
function placesIn({ name, rows }: TableDef, of: string, leftOut: LeftOut): readonly SkippedField[] {
  if (rows.kind !== 'nested' || rows.of !== of || !isLeftOut(leftOut, name)) return [];
  return rows.places.map(({ path }) => ({ path, isWhole: true }));
}
