import { records } from '../../api/facts.ts';

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

/** JSON of a parsed record, with the HTML characters escaped as the server does. */
export function htmlSafe(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, escaped);
}

/** A value that can be written as JSON; a key whose value is undefined is left out. */
export type Json = string | number | bigint | boolean | null | Verbatim | readonly Json[] | JsonRecord;
export type JsonRecord = { readonly [key: string]: Json | undefined };

type Records = typeof records;
export type RecordName = keyof Records;

/** A record of the API in the server's order; of fields without a value those that can be null are null, the others are left out. */
export function recordOf<Name extends RecordName>(
  name: Name,
  known: Readonly<Partial<Record<keyof Records[Name], Json | undefined>>>,
): JsonRecord {
  const values: JsonRecord = known;
  return Object.fromEntries(
    Object.entries<string>(records[name]).map(([field, type]) => [
      field,
      values[field] ?? (type.endsWith('|null') ? null : undefined),
    ]),
  );
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
