import { records } from '../../../api/facts.ts';
import { cached } from '../chain/mix.ts';

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A JSON string as the server writes it: HTML characters, control characters and lone surrogates as \\u escapes. */
export function jsonText(text: string): string {
  // Most texts need no escapes.
  if (/^[\w .:/+=@-]*$/.test(text)) return `"${text}"`;
  const body = text.replace(/["\\<>&\u2028\u2029]|\p{Cs}|\p{Cc}/gu, (char) => SHORT[char] ?? escaped(char));
  return `"${body}"`;
}

/** Of all control characters, only those from 0x7f on are not escaped. */
function escaped(char: string): string {
  const code = char.charCodeAt(0);
  return code >= 0x7f && code < 0xa0 ? char : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** A value that can be written as JSON; a key whose value is undefined is left out. */
export type Json = string | number | bigint | boolean | null | Verbatim | readonly Json[] | JsonRecord;
export type JsonRecord = { readonly [key: string]: Json | undefined };

type Records = typeof records;
export type RecordName = keyof Records;

/** Values of a record of the API; those that are not known are left out. */
type Values<Name extends RecordName> = Readonly<Partial<Record<keyof Records[Name], Json | undefined>>>;

/** A field of a record, as it is written. */
interface Field {
  readonly name: string;
  /** `"name":` */
  readonly key: string;
  readonly isNullable: boolean;
  /** The record that it holds, alone, in a list or in a map. */
  readonly record: RecordName | undefined;
  readonly isMap: boolean;
  /** True if its texts never need escapes: hashes, amounts and the like. */
  readonly isPlain: boolean;
}

const fieldsByName = new Map<RecordName, readonly Field[]>();

function fieldsOf(name: RecordName): readonly Field[] {
  return cached(fieldsByName, name, () =>
    Object.entries<string>(records[name]).map(([field, type]) => {
      const content = type.replace(/(\[\]|\{\})?(\?|\|null)?$/, '');
      return {
        name: field,
        key: `"${field}":`,
        isNullable: type.endsWith('|null'),
        record: isRecordName(content) ? content : undefined,
        isMap: type.includes('{}'),
        isPlain: /^(base64-|lt$|nanoton|raw-address|decimal-)/.test(content),
      };
    }),
  );
}

function isRecordName(name: string): name is RecordName {
  return Object.hasOwn(records, name);
}

/** A record of the API in the server's order; of fields without a value those that can be null are null, the others are left out. */
export function recordOf<Name extends RecordName>(name: Name, known: Values<Name>): JsonRecord {
  const values: JsonRecord = known;
  return Object.fromEntries(
    fieldsOf(name).map(({ name: field, isNullable }) => [field, values[field] ?? (isNullable ? null : undefined)]),
  );
}

/** The JSON text of a record of the API, or of a list of them, and of the records in it, each as `recordOf` makes it. */
export function textOf<Name extends RecordName>(name: Name, known: Values<Name> | readonly Values<Name>[]): string {
  // Joined at once: a text that grows by a few characters takes more time and memory.
  const parts: string[] = [];
  pushNested(parts, name, known, false);
  return parts.join('');
}

function pushRecord(parts: string[], name: RecordName, values: JsonRecord): void {
  let separator = '{';
  for (const { key, isNullable, name: field, record, isMap, isPlain } of fieldsOf(name)) {
    const value = values[field] ?? (isNullable ? null : undefined);
    if (value === undefined) continue;
    parts.push(separator, key);
    separator = ',';
    if (isPlain && typeof value === 'string') parts.push('"', value, '"');
    else if (record === undefined) parts.push(jsonOf(value));
    else pushNested(parts, record, value, isMap);
  }
  parts.push(separator === '{' ? '{}' : '}');
}

function pushNested(parts: string[], record: RecordName, value: Json, isMap: boolean): void {
  if (value === null || typeof value !== 'object' || value instanceof Verbatim) {
    parts.push(jsonOf(value));
  } else if (isList(value)) {
    let separator = '[';
    for (const each of value) {
      parts.push(separator);
      pushNested(parts, record, each, false);
      separator = ',';
    }
    parts.push(separator === '[' ? '[]' : ']');
  } else if (isMap) {
    let separator = '{';
    for (const [key, each] of Object.entries(value)) {
      parts.push(separator, '"', key, '":');
      pushNested(parts, record, each ?? null, false);
      separator = ',';
    }
    parts.push(separator === '{' ? '{}' : '}');
  } else {
    pushRecord(parts, record, value);
  }
}

/** JSON text that is written unchanged. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text with keys in their order. */
export function jsonOf(value: Json, keysOf: (record: JsonRecord) => readonly string[] = Object.keys): string {
  if (typeof value === 'string') return jsonText(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Verbatim) return value.text;
  if (isList(value)) return `[${value.map((each) => jsonOf(each, keysOf)).join(',')}]`;
  const parts = keysOf(value).flatMap((key) => {
    const each = value[key];
    return each === undefined ? [] : [`${jsonText(key)}:${jsonOf(each, keysOf)}`];
  });
  return `{${parts.join(',')}}`;
}

/** JSON text with keys sorted. */
export function sortedJson(value: Json): string {
  return jsonOf(value, (record) => Object.keys(record).sort());
}

function isList(value: readonly Json[] | JsonRecord): value is readonly Json[] {
  return Array.isArray(value);
}
