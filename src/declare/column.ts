import type { KindName } from './kind.ts';

/** Where the values of a column come from. */
export type Origin =
  /** A JSON pointer relative to the row's record. */
  | { readonly kind: 'path'; readonly path: string }
  /** A column of the row that this row is nested in. */
  | { readonly kind: 'parent'; readonly column: string }
  /** What the request asked for, or when: the walk gives it, the answer does not hold it. */
  | { readonly kind: 'ask'; readonly name: string }
  /** The constant that the row's place sets (`set` of a nested table). */
  | { readonly kind: 'place' }
  /** The UTC time or date of a column of Unix seconds in the same table. */
  | { readonly kind: 'time'; readonly column: string }
  /** Fields that no column declares, as JSON with JSON-pointer keys. */
  | { readonly kind: 'extra' };

/** One column of a table, as data. */
export interface ColumnDef<K extends KindName = KindName, N extends boolean = boolean> {
  readonly name: string;
  readonly kind: K;
  readonly origin: Origin;
  /** Whether null, or a missing field, is a value. */
  readonly nullable: N;
  readonly unit: string | undefined;
  /** Computed by the server when it is read, not chain data: may change between two readings, so no content hash holds it. */
  readonly decoration: boolean;
  readonly doc: string;
}

/** A column before its table names it. */
export class ColumnDraft<K extends KindName = KindName, N extends boolean = boolean> {
  readonly kind: K;
  readonly origin: Origin;
  readonly doc: string;
  readonly isNullable: N;
  readonly unitName: string | undefined;
  readonly isDecoration: boolean;

  constructor(kind: K, origin: Origin, doc: string, isNullable: N, unitName?: string, isDecoration = false) {
    this.kind = kind;
    this.origin = origin;
    this.doc = doc;
    this.isNullable = isNullable;
    this.unitName = unitName;
    this.isDecoration = isDecoration;
  }

  /** Null, or a missing field, becomes NULL instead of an error. */
  nullable(): ColumnDraft<K, true> {
    return new ColumnDraft(this.kind, this.origin, this.doc, true, this.unitName, this.isDecoration);
  }

  /** The unit of a number: `nanoton`, `lt`, `seconds`, `gas`. */
  unit(unitName: string): ColumnDraft<K, N> {
    return new ColumnDraft(this.kind, this.origin, this.doc, this.isNullable, unitName, this.isDecoration);
  }

  /** Marks a column that the server computes when it is read. */
  decoration(): ColumnDraft<K, N> {
    return new ColumnDraft(this.kind, this.origin, this.doc, this.isNullable, this.unitName, true);
  }

  named(name: string): ColumnDef<K, N> {
    return {
      name,
      kind: this.kind,
      origin: this.origin,
      nullable: this.isNullable,
      unit: this.unitName,
      decoration: this.isDecoration,
      doc: this.doc,
    };
  }
}

function fromPath<K extends KindName>(kind: K) {
  return (path: string, doc: string): ColumnDraft<K, false> =>
    new ColumnDraft(kind, { kind: 'path', path }, doc, false);
}

export const base64Hash = fromPath('base64-hash');
export const rawAddress = fromPath('raw-address');
export const text = fromPath('text');
export const json = fromPath('json');
export const textComment = fromPath('text-comment');
export const boc = fromPath('boc');
export const bool = fromPath('bool');
export const decimalInt64 = fromPath('decimal-int64');
export const decimalUint64 = fromPath('decimal-uint64');
export const decimal38 = fromPath('decimal-38');
export const decimal257 = fromPath('decimal-257');
export const uint64Number = fromPath('uint64-number');
export const unixSecondsString = fromPath('unix-seconds-string');
export const unixSeconds = fromPath('unix-seconds');
export const int32 = fromPath('int32');
export const uint32 = fromPath('uint32');
export const int64Number = fromPath('int64-number');
export const hexShard = fromPath('hex-shard');
export const opcodeHex = fromPath('opcode-hex');

/** A logical time: decimal string in the answer, BIGINT in tables. */
export const lt = (path: string, doc: string): ColumnDraft<'decimal-int64', false> =>
  decimalInt64(path, doc).unit('lt');

/** An amount of TON that fits 64 bits. */
export const nanoton = (path: string, doc: string): ColumnDraft<'decimal-int64', false> =>
  decimalInt64(path, doc).unit('nanoton');

/** The value of `column` in the row that this row is nested in. */
export function fromParent<K extends KindName>(kind: K, column: string, doc: string): ColumnDraft<K, false> {
  return new ColumnDraft(kind, { kind: 'parent', column }, doc, false);
}

/**
 * An integer of up to 257 bits: as text, and beside it, with `_decimal` behind the name, as a number where it has at most 38 digits.
 */
export function wideInteger(name: string, path: string, doc: string): Readonly<Record<string, ColumnDraft>> {
  const twin = new ColumnDraft(
    'decimal-38-of-257',
    { kind: 'path', path },
    `${name} as a number; null beyond 38 digits`,
    true,
  );
  return { [name]: decimal257(path, doc), [`${name}_decimal`]: twin };
}

/** A value that the walk knows of the request: a parameter by its name, `read_at` (microseconds) or `as_of` (seqno). */
export function fromAsk<K extends KindName>(kind: K, name: string, doc: string): ColumnDraft<K, false> {
  return new ColumnDraft(kind, { kind: 'ask', name }, doc, false);
}

/** Columns of a table whose rows change: when they were read, and which block was the newest then. */
export function reading(): {
  readonly _read_at: ColumnDraft<'timestamp', false>;
  readonly _as_of_seqno: ColumnDraft<'int32', false>;
} {
  return {
    _read_at: fromAsk('timestamp', 'read_at', 'UTC time at which the reading began'),
    _as_of_seqno: fromAsk('int32', 'as_of', 'newest masterchain block when the reading began'),
  };
}

/** Text that says where in its parent a nested row stood. */
export function fromPlace(doc: string): ColumnDraft<'text', false> {
  return new ColumnDraft('text', { kind: 'place' }, doc, false);
}
