import type { AnswerShape } from '../api/endpoint.ts';
import { type FieldType, typeOfField } from '../api/field-path.ts';
import { type RecordName, recordNames } from '../api/records.ts';
import { requireKnown } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import { type ColumnDef, ColumnDraft } from './column.ts';
import type { RoleName } from './roles.ts';

/** Where the rows of a table come from. */
export type RowsFrom =
  /** An array in the response: `/transactions`; with a shape, `/rows` of the reshaped response. */
  | { readonly kind: 'records'; readonly path: string; readonly shape?: Shape }
  /** Objects or arrays inside the records of another table; `label` names the place in a column. */
  | { readonly kind: 'nested'; readonly of: string; readonly places: readonly Place[] }
  /** The records of another table for which at least one of the named columns is set. */
  | { readonly kind: 'projection'; readonly of: string; readonly anyOf: readonly string[] };

/**
 * Responses without a list of records, reshaped to `{"rows": [...]}`. `list`: a bare list. `one`: the response is the record. `map`: an
 * object whose entries become `{"key": ..., "value": ...}`. `bodies`: the list at `/bodies`, whose items become `{"value": ...}`.
 */
export type Shape = 'list' | 'one' | 'map' | 'bodies';

/** One place of nested rows: an object (`one`) or an array of objects (`many`). */
export interface Place {
  readonly path: string;
  readonly count: 'one' | 'many';
  readonly label: string;
}

/** A view that belongs to a table. */
export interface ViewDef {
  readonly name: string;
  readonly doc: string;
  readonly sql: string;
  /** Columns in addition to those of the table, with docs; undefined if the view has other columns. */
  readonly adds?: Readonly<Record<string, string>> | undefined;
}

/** A table as data; DDL, Arrow schema, decoder and docs are derived from it. */
export interface TableDef {
  readonly name: string;
  /** What one row is, in one sentence. */
  readonly grain: string;
  readonly rows: RowsFrom;
  /** Primary key. */
  readonly key: readonly string[];
  /** Order of rows in files. */
  readonly sort: readonly string[];
  /** Column of Unix seconds for `block_time` and `block_date`; undefined for a table without time. */
  readonly time: string | undefined;
  /** Fields of a record that are not stored, by JSON pointer, with the reason. */
  readonly without: Readonly<Record<string, string>>;
  readonly columns: readonly ColumnDef[];
  readonly views: readonly ViewDef[];
  /** Role by which other code reads it; each role is played by one table. */
  readonly plays?: RoleName | undefined;
  /** Columns left out by a selection that other rows depend on: decoded, not written. */
  readonly unwritten?: readonly ColumnDef[] | undefined;
  /** Fields left out by a selection: known, not decoded. */
  readonly skipped?: readonly SkippedField[] | undefined;
}

/** A field of a record, by JSON pointer. */
export interface SkippedField {
  readonly path: string;
  /** True if all fields inside it are known, too. */
  readonly isWhole: boolean;
}

/**
 * @typeParam C names of its columns, of which key, sort and time are some
 * @typeParam Rows undefined for the rows of the endpoint
 */
export interface TableOptions<C extends string = string, Rows extends RowsFrom | undefined = RowsFrom | undefined>
  extends Pick<TableDef, 'grain' | 'plays'>,
    Partial<Pick<TableDef, 'without' | 'views'>> {
  /** Default: the rows that the pipeline's endpoint sends. */
  readonly rows?: Rows;
  /** API record of a row inside other rows, for columns declared with `field`. Rows of an endpoint have its record. */
  readonly record?: RecordName;
  readonly key: readonly NoInfer<C>[];
  /** Default: the key without `_read_at`. */
  readonly sort?: readonly (NoInfer<C> | 'block_time' | 'block_date')[];
  readonly time?: NoInfer<C>;
  readonly columns: Readonly<Record<C, ColumnDraft>>;
}

/** A table before its pipeline says which rows the endpoint sends. */
export class TableDraft {
  private readonly name: string;
  private readonly options: TableOptions;

  constructor(name: string, options: TableOptions) {
    this.name = name;
    this.options = options;
  }

  /**
   * The table with the rows of an endpoint.
   *
   * @throws {UsageError} if it names another record, or the record lacks a field
   */
  of(endpoint: string, answer: AnswerShape): TableDef {
    const { record = answer.record } = this.options;
    if (record !== answer.record) {
      throw usage(`${answer.record}, the record of ${endpoint}, for ${this.name}`, record, 'leave out record');
    }
    return defineTable(this.name, { ...this.options, record, rows: recordsOf(answer) });
  }
}

/** Where the rows of an answer are. */
export function recordsOf(answer: AnswerShape): Extract<RowsFrom, { kind: 'records' }> {
  if (answer.kind === 'rows') return { kind: 'records', path: `/${answer.rows}` };
  return { kind: 'records', path: '/rows', shape: answer.kind === 'record' ? 'one' : answer.kind };
}

/**
 * Declares a table. `block_time` and `block_date` follow from `time`; `_extra` is added to every table with records.
 *
 * @returns without `rows` a draft, which `pipeline` completes
 * @throws {UsageError} for a record that the API does not have, or a field that the record does not have
 */
export function table<C extends string, Rows extends RowsFrom | undefined = undefined>(
  name: string,
  options: TableOptions<C, Rows>,
): Rows extends RowsFrom ? TableDef : TableDraft;
export function table(name: string, options: TableOptions): TableDef | TableDraft {
  const { rows, record } = options;
  if (record !== undefined) requireKnown('a record of the API', record, recordNames);
  if (rows === undefined) return new TableDraft(name, options);
  if (rows.kind === 'records' && record !== undefined) {
    throw usage(`rows or their record for ${name}`, 'both', 'leave out both');
  }
  return defineTable(name, { ...options, rows });
}

type Placed = TableOptions<string, RowsFrom> & { readonly rows: RowsFrom };

function defineTable(name: string, options: Placed): TableDef {
  const drafts = [...Object.entries(options.columns), ...Object.entries(addedColumns(options))];
  const columns: readonly ColumnDef[] = drafts.map(([column, draft]) =>
    draft.named(column, (path) => typeInRecord(options, path)),
  );
  return {
    name,
    grain: options.grain,
    rows: options.rows,
    key: options.key,
    sort: options.sort ?? options.key.filter((column) => column !== '_read_at'),
    time: options.time,
    without: options.without ?? {},
    columns,
    views: options.views ?? [],
    ...(options.plays === undefined ? {} : { plays: options.plays }),
  };
}

function addedColumns({ time, rows, columns }: Placed): Readonly<Record<string, ColumnDraft>> {
  const added: Record<string, ColumnDraft> = {};
  if (time !== undefined) {
    const origin = { kind: 'time', column: time } as const;
    const partition = `UTC date of ${time}; the partition of the files`;
    // A time of the API that may be null is refused where it is.
    const nullable = columns[time]?.isNullable === true;
    added['block_time'] = new ColumnDraft({ kind: 'timestamp', origin, doc: `UTC time of ${time}`, nullable });
    added['block_date'] = new ColumnDraft({ kind: 'date', origin, doc: partition, nullable });
  }
  if (rows.kind !== 'projection') {
    const doc = 'fields without a column, as JSON by JSON pointer';
    added['_extra'] = new ColumnDraft({ kind: 'json', origin: { kind: 'extra' }, doc, nullable: true });
  }
  return added;
}

/** Rows from a map have its values at `/value`. */
function typeInRecord({ record, rows }: Placed, path: string): FieldType | undefined {
  if (record === undefined) return undefined;
  const isMap = rows.kind === 'records' && rows.shape === 'map';
  return typeOfField(record, isMap ? path.replace(/^\/value/, '') : path);
}

/** Columns that are not exported, by table; `*` stands for the whole table. */
export type LeftOut = Readonly<Record<string, readonly string[]>>;
