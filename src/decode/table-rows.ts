import { DecodeError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';
import type { Arena } from './arena.ts';
import { type Batch, makeVector, type Vector } from './batch.ts';
import { bytesOf } from './bytes.ts';
import { ChosenRows } from './chosen-rows.ts';
import { RowOrder, type SortColumn } from './row-order.ts';
import { type AnyColumn, BytesColumn, createColumn, WordsColumn } from './typed-columns.ts';

/** Properties of a request, by name; numbers as bigint, absent or null is NULL. */
export type Given = Readonly<Record<string, string | bigint | null>>;

function putGiven(column: AnyColumn, row: number, value: string | bigint): void {
  if (typeof value === 'string' && column instanceof BytesColumn) column.putText(row, value);
  else if (typeof value === 'bigint' && column instanceof WordsColumn) column.putBigInt(row, value);
}

/** The columns of a table that are decoded, including those that are not written. */
export function decodedColumns({ columns, unwritten = [] }: TableDef): readonly ColumnDef[] {
  return [...columns, ...unwritten];
}

/** A field without a column. */
interface Extra {
  readonly row: number;
  readonly pointer: string;
  readonly json: string;
}

/** The growing rows of a table of records, or of objects nested in them. */
export class TableRows {
  readonly table: TableDef;
  readonly parent: TableRows | undefined;
  /** Number of required values per row. */
  readonly required: number;
  /** Number of complete rows. */
  count = 0;
  /** Row of the parent that each row is nested in. */
  parentRows = new Int32Array(1024);
  private readonly byPath = new Map<string, AnyColumn>();
  private readonly byName = new Map<string, AnyColumn>();
  /** Label of each row's place in its parent; undefined for a table without that column. */
  readonly place: BytesColumn | undefined;
  private readonly order: RowOrder;
  private extras: Extra[] = [];
  private starts: Int32Array | undefined;

  constructor(table: TableDef, parent: TableRows | undefined) {
    this.table = table;
    this.parent = parent;
    const decoded = decodedColumns(table);
    this.required = decoded.filter((def) => def.origin.kind === 'path' && !def.nullable).length;
    for (const def of decoded) {
      if (def.origin.kind === 'path') this.byName.set(def.name, this.columnAt(def.origin.path, def));
      if (def.origin.kind === 'ask') this.byName.set(def.name, this.columnAt(`ask ${def.origin.name}`, def));
    }
    const place = table.columns.find((def) => def.origin.kind === 'place');
    this.place = place === undefined ? undefined : new BytesColumn(place);
    this.order = new RowOrder(table.sort.flatMap((name) => this.sortColumn(name) ?? []));
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

  /** Sets the columns that the walk knows, from one row to before another. Calls are in ascending order of rows. */
  fill(from: number, to: number, given: Given): void {
    for (const def of this.table.columns) {
      const value = def.origin.kind === 'ask' ? given[def.origin.name] : undefined;
      if (value === undefined || value === null) continue;
      const column = this.named(def.name);
      for (let row = from; row < to; row++) putGiven(column, row, value);
    }
  }

  /** The column of a declared name. */
  named(name: string): AnyColumn {
    const column = this.byName.get(name);
    if (column === undefined) {
      throw new DecodeError(`decode ${this.table.name}: expected a column with a path named ${name}, got none`, {
        code: 'declaration',
      });
    }
    return column;
  }

  /** Starts a nested row and returns its number; `label` is its place in the parent. */
  openNested(label: Uint8Array): number {
    const row = this.count;
    if (row >= this.parentRows.length) {
      const parentRows = new Int32Array(this.parentRows.length * 2);
      parentRows.set(this.parentRows);
      this.parentRows = parentRows;
    }
    this.parentRows[row] = this.parent?.count ?? 0;
    this.place?.putShort(row, label);
    return row;
  }

  /** Stores an extra field of the current row. False for a duplicate. */
  addExtra(pointer: string, json: string): boolean {
    const row = this.count;
    for (let i = this.extras.length - 1; i >= 0 && this.extras[i]?.row === row; i--) {
      if (this.extras[i]?.pointer === pointer) return false;
    }
    this.extras.push({ row, pointer, json });
    return true;
  }

  truncate(rows: number): void {
    for (const column of this.byPath.values()) column.truncate(rows);
    this.place?.truncate(rows);
    while (this.extras.length > 0 && (this.extras.at(-1)?.row ?? 0) >= rows) this.extras.pop();
    this.count = Math.min(this.count, rows);
    this.starts = undefined;
  }

  clear(): void {
    for (const column of this.byPath.values()) column.clear();
    this.place?.clear();
    this.extras = [];
    this.count = 0;
    this.starts = undefined;
  }

  byteSize(): number {
    let bytes = this.count * 4 + (this.place?.byteSize() ?? 0);
    for (const column of this.byPath.values()) bytes += column.byteSize();
    return bytes;
  }

  /** The given rows, in that order, in memory of the arena. */
  batch(rows: Int32Array, arena: Arena): Batch {
    const vectors = new Map<string, Vector>();
    const chosen = new ChosenRows(rows);
    const { parent, parentRows } = this;
    const parents = parent === undefined ? chosen : new ChosenRows(rows.map((row) => parentRows[row] as number));
    for (const def of this.table.columns) vectors.set(def.name, this.vectorOf(def, chosen, parents, vectors, arena));
    return { table: this.table, rows: rows.length, vectors: [...vectors.values()] };
  }

  /** Rows in the sort order of the table. */
  sorted(rows: Int32Array): Int32Array {
    return this.order.sort(rows);
  }

  /** The rows nested in some rows of the parent, in the order of those. */
  nestedIn(parents: Int32Array): Int32Array {
    const starts = this.nestedStarts();
    let size = 0;
    for (const parent of parents) size += (starts[parent + 1] as number) - (starts[parent] as number);
    const rows = new Int32Array(size);
    let found = 0;
    for (const parent of parents) {
      const to = starts[parent + 1] as number;
      for (let row = starts[parent] as number; row < to; row++) rows[found++] = row;
    }
    return rows;
  }

  /** The rows nested in one row of the parent: from one, to before another. */
  nestedRange(parent: number): { readonly from: number; readonly to: number } {
    const starts = this.nestedStarts();
    return { from: starts[parent] as number, to: starts[parent + 1] as number };
  }

  private sortColumn(name: string): SortColumn | undefined {
    const { origin } = this.table.columns.find((def) => def.name === name) ?? {};
    switch (origin?.kind) {
      case 'path':
      case 'ask':
        return { column: this.named(name), parentRows: undefined };
      case 'parent':
        return { column: (this.parent as TableRows).named(origin.column), parentRows: () => this.parentRows };
      case 'place':
        return this.place === undefined ? undefined : { column: this.place, parentRows: undefined };
      default:
        return undefined;
    }
  }

  /** For each row of the parent, the first row nested in it or in a later one. */
  private nestedStarts(): Int32Array {
    if (this.starts?.length === (this.parent?.count ?? 0) + 1) return this.starts;
    const starts = new Int32Array((this.parent?.count ?? 0) + 1);
    for (let row = 0; row < this.count; row++) {
      const after = (this.parentRows[row] as number) + 1;
      starts[after] = (starts[after] as number) + 1;
    }
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    this.starts = starts;
    return starts;
  }

  private vectorOf(
    def: ColumnDef,
    chosen: ChosenRows,
    parents: ChosenRows,
    before: ReadonlyMap<string, Vector>,
    arena: Arena,
  ): Vector {
    const { origin } = def;
    switch (origin.kind) {
      case 'path':
      case 'ask':
        return this.named(def.name).gather(chosen, def, arena);
      case 'place':
        return (this.place as BytesColumn).gather(chosen, def, arena);
      case 'parent':
        return (this.parent as TableRows).named(origin.column).gather(parents, def, arena);
      case 'time':
        return timeVector(def, before.get(origin.column) as Vector, chosen.rows.length, arena);
      case 'extra':
        return this.extraColumn(def).gather(chosen, def, arena);
    }
  }

  private extraColumn(def: ColumnDef): BytesColumn {
    const column = new BytesColumn(def);
    const fields = new Map<number, string[]>();
    for (const { row, pointer, json } of this.extras) {
      const list = fields.get(row) ?? [];
      list.push(`${JSON.stringify(pointer)}:${json}`);
      fields.set(row, list);
    }
    for (const [row, list] of [...fields].sort(([a], [b]) => a - b)) column.putText(row, `{${list.join(',')}}`);
    return column;
  }
}

/** A table over the records of another one that have at least one of some columns. */
export class ProjectedRows {
  readonly table: TableDef;
  private readonly columns: ReadonlyMap<string, AnyColumn>;
  private readonly anyOf: readonly AnyColumn[];

  constructor(table: TableDef, base: TableRows, anyOf: readonly string[]) {
    this.table = table;
    const columns = new Map<string, AnyColumn>();
    for (const def of decodedColumns(table)) {
      if (def.origin.kind === 'path') columns.set(def.name, base.columnAt(def.origin.path, def));
    }
    this.columns = columns;
    this.anyOf = anyOf.map((name) => columns.get(name) as AnyColumn);
  }

  /** Those of the given rows of the base that match, in that order, in memory of the arena. */
  batch(chosen: Int32Array, arena: Arena): Batch {
    const rows = chosen.filter((row) => this.hasAny(row));
    const matching = new ChosenRows(rows);
    const vectors = new Map<string, Vector>();
    for (const def of this.table.columns) {
      const vector =
        def.origin.kind === 'time'
          ? timeVector(def, vectors.get(def.origin.column) as Vector, rows.length, arena)
          : (this.columns.get(def.name) as AnyColumn).gather(matching, def, arena);
      vectors.set(def.name, vector);
    }
    return { table: this.table, rows: rows.length, vectors: [...vectors.values()] };
  }

  private hasAny(row: number): boolean {
    for (const column of this.anyOf) if (column.isSet(row)) return true;
    return false;
  }
}

const SECONDS_A_DAY = 86_400;
const MICROS_A_SECOND = 1_000_000;
const WORD = 4_294_967_296;

/** UTC time (microseconds) or date (days) of a column of Unix seconds; seconds have 32 bits, so all fits a double exactly. */
function timeVector(def: ColumnDef, seconds: Vector, rows: number, arena: Arena): Vector {
  const source = new Uint32Array(seconds.values.buffer, seconds.values.byteOffset, rows * 2);
  const nullity = { column: def, nullCount: seconds.nullCount, validity: seconds.validity };
  // Rows of one block share their time.
  let before = -1;
  if (def.kind === 'date') {
    const days = arena.words(rows);
    let day = 0;
    for (let row = 0; row < rows; row++) {
      const second = source[2 * row] as number;
      if (second !== before) day = Math.floor(second / SECONDS_A_DAY);
      days[row] = day;
      before = second;
    }
    return makeVector(nullity, undefined, bytesOf(days));
  }
  const words = arena.words(rows * 2);
  let [low, high] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const second = source[2 * row] as number;
    if (second !== before) {
      low = Math.imul(second, MICROS_A_SECOND);
      high = Math.floor((second * MICROS_A_SECOND) / WORD);
      before = second;
    }
    words[2 * row] = low;
    words[2 * row + 1] = high;
  }
  return makeVector(nullity, undefined, bytesOf(words));
}
