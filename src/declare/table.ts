import { type FieldType, typeOfField } from '../api/field-path.ts';
import type { RecordName } from '../api/records.ts';
import { type ColumnDef, ColumnDraft } from './column.ts';
import type { RoleName } from './roles.ts';

/** Where the rows of a table stand in an answer. */
export type RowsFrom =
  /** An array in the envelope: `/transactions`; with a shape, `/rows` of the envelope that the answer is made into. */
  | { readonly kind: 'records'; readonly path: string; readonly shape?: Shape }
  /** Objects or arrays inside the records of another table, each place with the text its rows are told by. */
  | { readonly kind: 'nested'; readonly of: string; readonly places: readonly Place[] }
  /** The same records as another table, those for which at least one of the named columns is set. */
  | { readonly kind: 'projection'; readonly of: string; readonly anyOf: readonly string[] };

/**
 * Answers without a list of records, made into `{"rows": [...]}`. `list`: a bare list. `one`: the answer is the record. `map`: an
 * object whose entries become `{"key": ..., "value": ...}`. `bodies`: the list at `/bodies`, whose items become `{"value": ...}`.
 */
export type Shape = 'list' | 'one' | 'map' | 'bodies';

/** One place of nested rows: an object (`one`) or an array of objects (`many`). */
export interface Place {
  readonly path: string;
  readonly count: 'one' | 'many';
  readonly label: string;
}

/** A select over declared tables that comes with a table. */
export interface ViewDef {
  readonly name: string;
  readonly doc: string;
  readonly sql: string;
  /** Columns beside those of its table, each with what it means; undefined for a view that has columns of its own. */
  readonly adds?: Readonly<Record<string, string>> | undefined;
}

/** A table, as data: everything else about it (DDL, Arrow schema, decoder, docs) follows from this. */
export interface TableDef {
  readonly name: string;
  /** What one row is, in one sentence. */
  readonly grain: string;
  readonly rows: RowsFrom;
  /** Columns that tell a row from all others. */
  readonly key: readonly string[];
  /** Order of rows in files. */
  readonly sort: readonly string[];
  /** Column of Unix seconds behind `block_time` and `block_date`; undefined for a table without time. */
  readonly time: string | undefined;
  /** Fields of a record that are not kept, by JSON pointer, each with the reason. */
  readonly without: Readonly<Record<string, string>>;
  readonly columns: readonly ColumnDef[];
  readonly views: readonly ViewDef[];
  /** What the table is for others; no other table plays the same role. Undefined for one that nothing else reads. */
  readonly plays?: RoleName | undefined;
  /** Columns that a selection leaves out, and that rows which it keeps are made of: decoded, not written. */
  readonly unwritten?: readonly ColumnDef[] | undefined;
  /** Fields that a selection leaves out: known, not decoded. */
  readonly skipped?: readonly SkippedField[] | undefined;
}

/** A field of a record, by JSON pointer. */
export interface SkippedField {
  readonly path: string;
  /** Whether everything inside it belongs to it. */
  readonly isWhole: boolean;
}

export interface TableOptions {
  readonly grain: string;
  /** The record of the API that a row is made of; needed for columns that are declared by `field`. */
  readonly record?: RecordName;
  readonly rows: RowsFrom;
  readonly key: readonly string[];
  readonly sort: readonly string[];
  readonly time?: string;
  readonly without?: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, ColumnDraft>>;
  readonly views?: readonly ViewDef[];
  /** What the table is for others, such as `headers`: it has all columns of that role. */
  readonly plays?: RoleName;
}

/** Declares a table. `block_time` and `block_date` follow from `time`; `_extra` is added to every table with records. */
export function table(name: string, options: TableOptions): TableDef {
  const drafts = [...Object.entries(options.columns), ...Object.entries(addedColumns(options))];
  const columns: readonly ColumnDef[] = drafts.map(([column, draft]) =>
    draft.named(column, (path) => typeInRecord(options, path)),
  );
  return {
    name,
    grain: options.grain,
    rows: options.rows,
    key: options.key,
    sort: options.sort,
    time: options.time,
    without: options.without ?? {},
    columns,
    views: options.views ?? [],
    ...(options.plays === undefined ? {} : { plays: options.plays }),
  };
}

function addedColumns({ time, rows }: TableOptions): Readonly<Record<string, ColumnDraft>> {
  const added: Record<string, ColumnDraft> = {};
  if (time !== undefined) {
    const origin = { kind: 'time', column: time } as const;
    const partition = `UTC date of ${time}; the partition of the files`;
    added['block_time'] = new ColumnDraft({ kind: 'timestamp', origin, doc: `UTC time of ${time}` });
    added['block_date'] = new ColumnDraft({ kind: 'date', origin, doc: partition });
  }
  if (rows.kind !== 'projection') {
    const doc = 'fields without a column, as JSON by JSON pointer';
    added['_extra'] = new ColumnDraft({ kind: 'json', origin: { kind: 'extra' }, doc, nullable: true });
  }
  return added;
}

/** Entries of a map stand at `/value` of the rows that are made of them. */
function typeInRecord({ record, rows }: TableOptions, path: string): FieldType | undefined {
  if (record === undefined) return undefined;
  const isMap = rows.kind === 'records' && rows.shape === 'map';
  return typeOfField(record, isMap ? path.replace(/^\/value/, '') : path);
}

/** Columns that are not exported, by table; `*` stands for the table as a whole. Tables that are exported whole are absent. */
export type LeftOut = Readonly<Record<string, readonly string[]>>;
