import type { enums, variants } from '../../api/facts.ts';
import type { KindName } from '../declare/kind.ts';

interface FieldKindShape {
  /** JSON type; `wide` is an integer of up to 64 bits. */
  readonly json: 'string' | 'integer' | 'wide' | 'boolean' | 'texts' | 'object' | 'any';
  /** Kind of a column for the field: in tables, and in the files of `tonlake api`. */
  readonly column: KindName;
  /** Unit of the number. */
  readonly unit?: 'lt' | 'nanoton' | 'seconds';
}

function defineKinds<const T extends Readonly<Record<string, FieldKindShape>>>(kinds: T): T {
  return kinds;
}

/** Kinds of fields. */
export const fieldKinds = defineKinds({
  'base64-hash': { json: 'string', column: 'base64-hash' },
  'raw-address': { json: 'string', column: 'raw-address' },
  'address-or-foreign-text': { json: 'string', column: 'raw-address' },
  'hex-shard': { json: 'string', column: 'hex-shard' },
  'opcode-hex': { json: 'string', column: 'opcode-hex' },
  'hex-0x-unpadded': { json: 'string', column: 'text' },
  'hex-unpadded': { json: 'string', column: 'text' },
  'base64-boc': { json: 'string', column: 'boc' },
  text: { json: 'string', column: 'text' },
  lt: { json: 'string', column: 'decimal-int64', unit: 'lt' },
  nanoton: { json: 'string', column: 'decimal-int64', unit: 'nanoton' },
  'decimal-int32': { json: 'string', column: 'decimal-int64' },
  'decimal-uint24': { json: 'string', column: 'decimal-int64' },
  'decimal-uint56': { json: 'string', column: 'decimal-int64' },
  'decimal-uint64': { json: 'string', column: 'decimal-uint64' },
  'decimal-uint120': { json: 'string', column: 'decimal-38' },
  'decimal-uint248': { json: 'string', column: 'decimal-257' },
  'decimal-uint256': { json: 'string', column: 'decimal-257' },
  'decimal-int257': { json: 'string', column: 'decimal-257' },
  'decimal-numeric': { json: 'string', column: 'decimal-257' },
  'seqno-as-string': { json: 'string', column: 'decimal-int64' },
  'unix-seconds-string': { json: 'string', column: 'unix-seconds-string', unit: 'seconds' },
  'unix-seconds': { json: 'integer', column: 'unix-seconds', unit: 'seconds' },
  seqno: { json: 'integer', column: 'int32' },
  workchain: { json: 'integer', column: 'int32' },
  int8: { json: 'integer', column: 'int32' },
  uint8: { json: 'integer', column: 'int32' },
  uint16: { json: 'integer', column: 'int32' },
  int32: { json: 'integer', column: 'int32' },
  uint32: { json: 'integer', column: 'uint32' },
  'int64-number': { json: 'wide', column: 'int64-number' },
  'uint64-number-unsafe': { json: 'wide', column: 'uint64-number' },
  bool: { json: 'boolean', column: 'bool' },
  'extra-currency-map': { json: 'texts', column: 'json' },
  'string-map': { json: 'texts', column: 'json' },
  'json-object': { json: 'object', column: 'json' },
  'decoded-body': { json: 'object', column: 'json' },
  any: { json: 'any', column: 'json' },
});

export type FieldKind = keyof typeof fieldKinds;

/**
 * The fields of a record as texts: a kind, the name of a record, `enum:NAME`, or `by:FIELD:MAP` for a record that depends on another
 * field. It is followed by `[]` for a list or `{}` for a map, then by `|null` if the value may be null, or `?` if the field may be
 * missing.
 */
export type Fields = Readonly<Record<string, string>>;

/** A parsed field. */
export interface Field {
  readonly content:
    | { readonly kind: 'value'; readonly name: FieldKind }
    | { readonly kind: 'record'; readonly name: string }
    | { readonly kind: 'enum'; readonly name: string }
    | { readonly kind: 'variant'; readonly field: string; readonly map: string };
  readonly container: 'none' | 'list' | 'map';
  readonly nullable: boolean;
  readonly optional: boolean;
}

export function parseField(text: string): Field {
  const bare = text.replace(/(\?|\|null)$/, '');
  const name = bare.replace(/(\[\]|\{\})$/, '');
  return {
    content: contentOf(name),
    container: bare.endsWith('[]') ? 'list' : bare.endsWith('{}') ? 'map' : 'none',
    nullable: text.endsWith('|null'),
    optional: text.endsWith('?'),
  };
}

function contentOf(name: string): Field['content'] {
  if (isFieldKind(name)) return { kind: 'value', name };
  const [head, first = '', second = ''] = name.split(':');
  if (head === 'enum') return { kind: 'enum', name: first };
  if (head === 'by') return { kind: 'variant', field: first, map: second };
  return { kind: 'record', name };
}

function isFieldKind(name: string): name is FieldKind {
  return Object.hasOwn(fieldKinds, name);
}

/** Parsed JSON: integers beyond 2^53 and fields of 64-bit kinds are bigint. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

interface JsonTypes {
  readonly string: string;
  readonly integer: number;
  readonly wide: bigint;
  readonly boolean: boolean;
  readonly texts: Readonly<Record<string, string>>;
  readonly object: JsonObject;
  readonly any: JsonValue;
}

/** A known value, or a new one of a newer server. */
type Open<Words extends string> = Words | (string & Record<never, never>);

type EnumWords<Name> = Name extends keyof typeof enums
  ? Open<(typeof enums)[Name][number]>
  : Name extends 'action_type'
    ? Open<keyof (typeof variants)['action_details_by_type']>
    : never;

/** The union of the record types that a text such as `A|B` names. */
export type Named<Names, Records> = Names extends `${infer First}|${infer Rest}`
  ? Named<First, Records> | Named<Rest, Records>
  : Names extends keyof Records
    ? RecordType<Records[Names], Records>
    : never;

type Variants<Map, Records> = Map extends keyof typeof variants
  ? Named<(typeof variants)[Map][keyof (typeof variants)[Map]], Records>
  : never;

type One<Text, Records> = Text extends FieldKind
  ? JsonTypes[(typeof fieldKinds)[Text]['json']]
  : Text extends `enum:${infer Name}`
    ? EnumWords<Name>
    : Text extends `by:${string}:${infer Map}`
      ? Variants<Map, Records>
      : Named<Text, Records>;

type Content<Text, Records> = Text extends `${infer Item}[]`
  ? readonly One<Item, Records>[]
  : Text extends `${infer Item}{}`
    ? Readonly<Record<string, One<Item, Records>>>
    : One<Text, Records>;

type FieldValue<Text, Records> = Text extends `${infer Bare}?`
  ? Content<Bare, Records>
  : Text extends `${infer Bare}|null`
    ? Content<Bare, Records> | null
    : Content<Text, Records>;

/** The type of a record whose fields are declared as text. */
export type RecordType<F, Records> = {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? never : Name]: FieldValue<F[Name], Records>;
} & {
  readonly [Name in keyof F as F[Name] extends `${string}?` ? Name : never]?: FieldValue<F[Name], Records>;
};
