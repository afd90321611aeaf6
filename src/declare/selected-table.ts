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
  /** Whether its files are partitioned by `block_date`. */
  readonly isDated: boolean;
  readonly columns: readonly SelectedColumn[];
}

/** The kind that stands for a type of DuckDB where no answer tells which; the others of that type are written the same. */
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

/** The kind of a column of that type; undefined for a type that no table may have, such as HUGEINT or DOUBLE. */
export function kindOfType(type: string): KindName | undefined {
  return chosen.find((kind) => kinds[kind].sql === type);
}

/** A table whose rows a select gives. Columns of a type that no table may have are left out. */
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
