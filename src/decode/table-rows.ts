import { DecodeError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';
import type { Arena } from './arena.ts';
import { type Batch, makeVector, type Vector } from './batch.ts';
import type { Kernel } from './kernel.ts';
import { type AnyColumn, BytesColumn, createColumn, WordsColumn } from './typed-columns.ts';

/** Properties of a request, by name; numbers as bigint, absent or null is NULL. */
export type Given = Readonly<Record<string, string | bigint | null>>;

/** The columns of a table that are decoded, including those that are not written. */
export function decodedColumns({ columns, unwritten = [] }: TableDef): readonly ColumnDef[] {
  return [...columns, ...unwritten];
}

/** A list of rows in the kernel's memory. */
export interface RowList {
  readonly at: number;
  readonly count: number;
}

/** Source of the values of another column. */
interface Source {
  readonly column: AnyColumn;
  readonly isParents: boolean;
}

/** The rows of a table of records, or of objects nested in them. */
export class TableRows {
  readonly table: TableDef;
  readonly parent: TableRows | undefined;
  /** Number of required values per row. */
  readonly required: number;
  private kernel: Kernel | undefined;
  /** Address in the kernel's memory. */
  address = 0;
  /** Number of complete rows. */
  count = 0;
  /** Row of the parent that each row is nested in. */
  parentRows: Int32Array = new Int32Array(0);
  /** Label of each row's place in its parent; undefined for a table without that column. */
  readonly place: BytesColumn | undefined;
  private readonly byPath = new Map<string, AnyColumn>();
  private readonly byName = new Map<string, AnyColumn>();
  private readonly extra: BytesColumn;
  private starts: Uint32Array = new Uint32Array(0);
  /** Columns in use by callers, which are refreshed after each call. */
  private readonly seen = new Set<AnyColumn>();

  constructor(table: TableDef, parent: TableRows | undefined) {
    this.table = table;
    this.parent = parent;
    const decoded = decodedColumns(table);
    this.required = decoded.filter((def) => def.origin.kind === 'path' && !def.nullable).length;
    for (const def of decoded) {
      if (def.origin.kind === 'path') this.byName.set(def.name, this.columnAt(def.origin.path, def));
      if (def.origin.kind === 'ask') this.byName.set(def.name, this.columnAt(`ask ${def.origin.name}`, def));
    }
    const columnOf = (kind: 'place' | 'extra') => table.columns.find((def) => def.origin.kind === kind);
    const place = columnOf('place');
    this.place = place === undefined ? undefined : new BytesColumn(place);
    this.extra = new BytesColumn(columnOf('extra') ?? (table.columns[0] as ColumnDef));
  }

  /** The column that holds the values at a path; two tables over the same records share it. */
  columnAt(path: string, def: ColumnDef): AnyColumn {
    const key = `${def.kind} ${path}`;
    const known = this.byPath.get(key);
    if (known !== undefined) return known;
    const column = createColumn(def);
    this.byPath.set(key, column);
    return column;
  }

  /** Builds the table and its columns in the kernel's memory, after those of its parent. */
  build(kernel: Kernel): void {
    const { calls } = kernel;
    this.kernel = kernel;
    this.address = calls.newTable(this.parent?.address ?? 0);
    for (const column of this.byPath.values()) column.address = calls.addColumn(this.address, column.bytesPerRow);
    const place = calls.setTable(this.address, this.required, Number(this.place !== undefined));
    if (this.place !== undefined) this.place.address = place;
    this.extra.address = calls.extraOf(this.address);
    for (const name of this.table.sort) {
      const def = this.table.columns.find((column) => column.name === name);
      if (def === undefined || def.origin.kind === 'time' || def.origin.kind === 'extra') continue;
      const { column, isParents } = this.sourceOf(def);
      calls.sortBy(this.address, column.address, Number(isParents));
    }
  }

  /** Sets the columns that the walk knows, from one row to before another. Calls are in ascending order of rows. */
  fill(kernel: Kernel, from: number, to: number, given: Given): void {
    for (const def of this.table.columns) {
      const value = def.origin.kind === 'ask' ? given[def.origin.name] : undefined;
      if (value === undefined || value === null) continue;
      const column = this.columnOf(def.name);
      if (typeof value === 'bigint' && column instanceof WordsColumn) {
        kernel.calls.fillNumber(column.address, from, to, BigInt.asIntN(64, value), BigInt.asIntN(64, value >> 64n));
      } else if (typeof value === 'string' && column instanceof BytesColumn) {
        const bytes = Buffer.from(value);
        kernel.calls.fillText(column.address, from, to, kernel.give(bytes), bytes.length);
      }
    }
  }

  /** The column of a declared name, to be read. */
  named(name: string): AnyColumn {
    const column = this.columnOf(name);
    this.seen.add(column);
    if (this.kernel !== undefined) column.refresh(this.kernel);
    return column;
  }

  /** Looks at the rows as they are now. */
  refresh(kernel: Kernel): void {
    this.count = kernel.calls.rowsIn(this.address);
    for (const column of this.seen) column.refresh(kernel);
  }

  /** As `see`, including what nested rows have besides their columns. */
  refreshNested(kernel: Kernel): void {
    this.refresh(kernel);
    const starts = kernel.calls.nestedStarts(this.address) >> 2;
    const parents = kernel.calls.parentRowsOf(this.address);
    const { words } = kernel;
    this.parentRows = new Int32Array(words.buffer, parents, this.count);
    this.starts = words.subarray(starts, starts + (this.parent?.count ?? 0) + 1);
    this.place?.refresh(kernel);
  }

  /** The rows nested in one row of the parent: from one, to before another. */
  nestedRange(parent: number): { readonly from: number; readonly to: number } {
    return { from: this.starts[parent] as number, to: this.starts[parent + 1] as number };
  }

  /** The given rows, in that order, in memory of the arena. */
  batch(kernel: Kernel, rows: RowList, arena: Arena): Batch {
    const { table } = this;
    const parents =
      this.parent === undefined
        ? rows
        : { at: kernel.calls.parentsIn(this.address, rows.at, rows.count), count: rows.count };
    const vectors = table.columns.map((def) => {
      const { column, isParents } = this.sourceOf(def);
      return gather(kernel, def, column, isParents ? parents : rows, arena);
    });
    return { table, rows: rows.count, vectors };
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  private columnOf(name: string): AnyColumn {
    const column = this.byName.get(name);
    if (column === undefined) throw noColumn(this.table, name);
    return column;
  }

  private sourceOf(def: ColumnDef): Source {
    const { origin } = def;
    switch (origin.kind) {
      case 'path':
      case 'ask':
        return { column: this.columnOf(def.name), isParents: false };
      case 'place':
        return { column: this.place as BytesColumn, isParents: false };
      case 'parent':
        return { column: (this.parent as TableRows).columnOf(origin.column), isParents: true };
      case 'time':
        return this.sourceOf(timeOf(this.table, origin.column));
      case 'extra':
        return { column: this.extra, isParents: false };
    }
  }
}

/** A table over the records of another one that have at least one of some columns. */
export class ProjectedRows {
  readonly table: TableDef;
  private readonly columns: ReadonlyMap<string, AnyColumn>;
  private readonly anyOf: readonly AnyColumn[];
  private list = 0;

  constructor(table: TableDef, base: TableRows, anyOf: readonly string[]) {
    this.table = table;
    const columns = new Map<string, AnyColumn>();
    for (const def of decodedColumns(table)) {
      if (def.origin.kind === 'path') columns.set(def.name, base.columnAt(def.origin.path, def));
    }
    this.columns = columns;
    this.anyOf = anyOf.map((name) => columns.get(name) as AnyColumn);
  }

  build({ calls }: Kernel): void {
    this.list = calls.newList();
    for (const { address } of this.anyOf) calls.addToList(this.list, address);
  }

  /** Those of the given rows of the base that match, in that order, in memory of the arena. */
  batch(kernel: Kernel, chosen: RowList, arena: Arena): Batch {
    const { table } = this;
    const count = kernel.calls.matchingIn(this.list, chosen.at, chosen.count);
    const rows = { at: kernel.calls.matchingRows(), count };
    const vectors = table.columns.map((def) => {
      const source = def.origin.kind === 'time' ? timeOf(table, def.origin.column) : def;
      return gather(kernel, def, this.columns.get(source.name) as AnyColumn, rows, arena);
    });
    return { table, rows: count, vectors };
  }
}

/** The column of Unix seconds that a column of times is made from. */
function timeOf(table: TableDef, name: string): ColumnDef {
  const def = table.columns.find((column) => column.name === name);
  if (def === undefined) throw noColumn(table, name);
  return def;
}

function noColumn({ name }: TableDef, column: string): DecodeError {
  return new DecodeError(`decode ${name}: expected a column with a path named ${column}, got none`);
}

/** Some rows of a column as column `def`, in memory of the arena. */
function gather(kernel: Kernel, def: ColumnDef, { address }: AnyColumn, rows: RowList, arena: Arena): Vector {
  const { calls } = kernel;
  const vector =
    def.origin.kind === 'time'
      ? calls.gatherTimes(address, rows.at, rows.count, Number(def.kind === 'date'))
      : calls.gather(address, rows.at, rows.count);
  const [nullCount = 0, validity = 0, offsets = 0, values = 0, size = 0] = kernel.struct(vector);
  const copy = (from: number, bytes: number): Uint8Array => {
    const to = arena.take(bytes);
    to.set(kernel.bytes.subarray(from, from + bytes));
    return to;
  };
  const nullity = { column: def, nullCount, validity: copy(validity, (rows.count + 7) >> 3) };
  if (offsets === 0) return makeVector(nullity, undefined, copy(values, size));
  const { buffer, byteOffset } = copy(offsets, 4 * (rows.count + 1));
  return makeVector(nullity, new Int32Array(buffer, byteOffset, rows.count + 1), copy(values, size));
}
