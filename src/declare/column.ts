import type { FieldType } from '../api/field-path.ts';
import { usage } from '../core/errors.ts';
import { type KindName, kinds } from './kind.ts';

/** Where the values of a column come from. */
export type Origin =
  /** A JSON pointer relative to the row's record. */
  | { readonly kind: 'path'; readonly path: string }
  /** A column of the row that this row is nested in. */
  | { readonly kind: 'parent'; readonly column: string }
  /** A property of the request, such as a parameter or its time, set by the walk. */
  | { readonly kind: 'ask'; readonly name: string }
  /** The label of the place in the parent record that a nested row comes from. */
  | { readonly kind: 'place' }
  /** UTC time or date of a column of Unix seconds in the same table. */
  | { readonly kind: 'time'; readonly column: string }
  /** Fields without a column, as JSON with JSON-pointer keys. */
  | { readonly kind: 'extra' };

/** One column of a table, as data. */
export interface ColumnDef {
  readonly name: string;
  readonly kind: KindName;
  readonly origin: Origin;
  /** True if the field may be null or missing. */
  readonly nullable: boolean;
  readonly unit: string | undefined;
  /** Computed by the server on each read, not chain data: it may change between reads, so content hashes leave it out. */
  readonly decoration: boolean;
  /** Column with the raw form of the address that this one has in its user-friendly form: a row where they differ is refused. */
  readonly encodes?: string;
  /** Files have a Bloom filter of its values, so that lookups of single values skip row groups. */
  readonly bloomFilter?: true;
  readonly doc: string;
}

/** What a column means, with its unit: `fees of the transaction (nanoton)`; empty if nothing says it. */
export function docWithUnit({ doc, unit }: { readonly doc: string; readonly unit?: string | undefined }): string {
  return doc === '' || unit === undefined ? doc : `${doc} (${unit})`;
}

/** Units of numbers that are positions, times or identifiers, not quantities. */
const PLACES = ['lt', 'seqno', 'Unix time', 'id', 'code'];
/** Kinds of such numbers, and of numbers too small to be amounts. */
const PLACE_KINDS: readonly KindName[] = [
  'unix-seconds',
  'unix-seconds-string',
  'hex-shard',
  'opcode-hex',
  'int32',
  'decimal-uint64',
];

/** True if the numbers of a column count or measure something; those of others are written without separators. */
export function isQuantity({ kind, unit }: Pick<ColumnDef, 'kind' | 'unit'>): boolean {
  if (!/INT|DECIMAL/.test(kinds[kind].sql) || PLACE_KINDS.includes(kind)) return false;
  return unit === undefined || !PLACES.includes(unit);
}

/** The declared parts of a column; the others are those of the field in the table's record. */
type ColumnParts = Pick<ColumnDef, 'origin' | 'doc'> & Partial<Omit<ColumnDef, 'name' | 'origin' | 'doc'>>;

/** A column before its table names it. */
export class ColumnDraft {
  private readonly parts: ColumnParts;

  constructor(parts: ColumnParts) {
    this.parts = parts;
  }

  get isNullable(): boolean {
    return this.parts.nullable === true;
  }

  /** Null, or a missing field, becomes NULL instead of an error. */
  nullable(): ColumnDraft {
    return new ColumnDraft({ ...this.parts, nullable: true });
  }

  /** Null, or a missing field, is an error, even if the API allows it: a row without it is useless. */
  required(): ColumnDraft {
    return new ColumnDraft({ ...this.parts, nullable: false });
  }

  /** The unit of a number: `nanoton`, `gas`, `seconds`; `lt`, `seqno`, `id` and `code` for numbers that are not amounts. */
  unit(unit: string): ColumnDraft {
    return new ColumnDraft({ ...this.parts, unit });
  }

  /** Marks a column that the server computes on each read. */
  decoration(): ColumnDraft {
    return new ColumnDraft({ ...this.parts, decoration: true });
  }

  /** The user-friendly form of the address in another column: a row where they differ is refused, and requested again. */
  encodes(column: string): ColumnDraft {
    return new ColumnDraft({ ...this.parts, encodes: column });
  }

  /**
   * Writes a Bloom filter of the values to files; for hashes, addresses and other columns that are searched for single values. Columns of
   * bytes and of booleans get none.
   */
  bloomFilter(): ColumnDraft {
    return new ColumnDraft({ ...this.parts, bloomFilter: true });
  }

  /**
   * The column under its name.
   *
   * @param typeOf type, nullability and unit of a field of the table's record, if not declared
   * @throws {UsageError} if the record has no such field
   */
  named(name: string, typeOf: (path: string) => FieldType | undefined): ColumnDef {
    const { origin, doc, kind, nullable, unit, decoration = false, encodes, bloomFilter } = this.parts;
    const path = origin.kind === 'path' ? origin.path : '';
    const type = kind === undefined ? typeOf(path) : { kind, nullable: false, unit: undefined };
    if (type === undefined) {
      throw usage(
        `a field of the table's record for column ${name}`,
        path,
        'declare it with its kind, for example text(path, doc)',
      );
    }
    return {
      name,
      kind: type.kind,
      origin,
      nullable: nullable ?? type.nullable,
      unit: unit ?? type.unit,
      decoration,
      ...(encodes === undefined ? {} : { encodes }),
      ...(bloomFilter === true ? { bloomFilter } : {}),
      doc,
    };
  }
}

/** A field of the table's record, by JSON pointer. Type, nullability and unit are those of the API schema. */
export function field(path: string, doc: string): ColumnDraft {
  return new ColumnDraft({ origin: { kind: 'path', path }, doc });
}

function fromPath(kind: KindName) {
  return (path: string, doc: string): ColumnDraft => new ColumnDraft({ kind, origin: { kind: 'path', path }, doc });
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
export const decimal20 = fromPath('decimal-20');
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

/** A logical time: a decimal string in responses, BIGINT in tables. */
export const lt = (path: string, doc: string): ColumnDraft => decimalInt64(path, doc).unit('lt');

/** An amount of TON that fits 64 bits. */
export const nanoton = (path: string, doc: string): ColumnDraft => decimalInt64(path, doc).unit('nanoton');

/** The value of `column` in the row that this row is nested in. */
export function fromParent(kind: KindName, column: string, doc: string): ColumnDraft {
  return new ColumnDraft({ kind, origin: { kind: 'parent', column }, doc });
}

/** An integer of up to 257 bits, as text; and as a number in `NAME_decimal`, if it has at most 38 digits. */
export function wideInteger(
  name: string,
  path: string,
  doc: string,
  unit?: string,
): Readonly<Record<string, ColumnDraft>> {
  const twin = fromPath('decimal-38-of-257')(path, `${name} as a number; null above 38 digits`).nullable();
  return { [name]: decimal257(path, doc), [`${name}_decimal`]: unit === undefined ? twin : twin.unit(unit) };
}

/** A property of the request: a parameter by its name, `read_at` (microseconds) or `as_of` (seqno). */
export function fromRequest(kind: KindName, name: string, doc: string): ColumnDraft {
  return new ColumnDraft({ kind, origin: { kind: 'ask', name }, doc });
}

/** Columns of a table whose rows change: when they were read, and the latest block at that time. */
export function reading() {
  return {
    _read_at: fromRequest('timestamp', 'read_at', 'UTC time when the reading began'),
    _as_of_seqno: fromRequest('int32', 'as_of', 'latest masterchain block when the reading began'),
  };
}

/** The label of the place in the parent record that a nested row comes from. */
export function fromPlace(doc: string): ColumnDraft {
  return new ColumnDraft({ kind: 'text', origin: { kind: 'place' }, doc });
}

/** The UTC date of a column of Unix seconds. */
export function dateOf(column: string, doc: string): ColumnDraft {
  return new ColumnDraft({ kind: 'date', origin: { kind: 'time', column }, doc });
}
