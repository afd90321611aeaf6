import { type KindName, kinds } from './kind.ts';
import type { TableDef } from './table.ts';

/** A column of a select, as DuckDB describes it. */
export interface SelectedColumn {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
  readonly unit?: string | undefined;
  readonly doc?: string | undefined;
}

export interface SelectedTableOptions {
  readonly name: string;
  readonly grain: string;
  readonly key: readonly string[];
  /** True if its files are partitioned by `block_date`. */
  readonly isDated: boolean;
  readonly columns: readonly SelectedColumn[];
}

/** Added to every mart. */
export const COVERAGE: SelectedColumn = {
  name: '_coverage',
  type: 'VARCHAR',
  doc: 'proven, unproven or missing: the least that the warehouse has of the source rows; missing if a part of the day is',
};

/** The kind for each DuckDB type of a query result; other kinds of that type are written the same way. */
const chosen: readonly KindName[] = [
  'text',
  'boc',
  'bool',
  'int32',
  'int64-number',
  'uint64-number',
  'decimal-38',
  'timestamp',
  'date',
];

/** The kind of a column of that type; undefined for unsupported types such as HUGEINT or DOUBLE. */
export function kindOfType(type: string): KindName | undefined {
  return chosen.find((kind) => kinds[kind].sql === type);
}

/** A table of the rows of a query. Columns of unsupported types are left out. */
export function selectedTable({ name, grain, key, isDated, columns }: SelectedTableOptions): TableDef {
  return {
    name,
    grain,
    rows: { kind: 'records', path: '' },
    key,
    sort: key,
    time: isDated ? 'block_date' : undefined,
    without: {},
    views: [],
    columns: columns.flatMap(({ name: column, type, unit, doc = '' }) => {
      const kind = kindOfType(type);
      if (kind === undefined) return [];
      return [{ name: column, kind, origin: { kind: 'path', path: '' }, nullable: true, unit, decoration: false, doc }];
    }),
  };
}
