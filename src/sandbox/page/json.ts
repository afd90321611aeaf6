const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A JSON string as the server writes it: HTML characters, control characters and lone surrogates as \\u escapes. */
export function jsonText(text: string): string {
  const body = text.replace(/["\\<>&\u2028\u2029]|\p{Cs}|\p{Cc}/gu, (char) => SHORT[char] ?? escaped(char));
  return `"${body}"`;
}

/** The controls from 0x7f on are the only ones that JSON leaves as they are. */
function escaped(char: string): string {
  const code = char.charCodeAt(0);
  return code >= 0x7f && code < 0xa0 ? char : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** JSON text of a value built from text, numbers, booleans, null, lists and records; the keys of records are sorted. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export function jsonOf(value: Json): string {
  if (typeof value === 'string') return jsonText(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(jsonOf).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${jsonText(key)}:${jsonOf(value[key] ?? null)}`).join(',')}}`;
}

/** As `jsonOf`, with the keys in the order they were put; a key whose value is undefined is left out. */
export type OrderedRecord = { readonly [key: string]: Ordered | undefined };
export type Ordered = string | number | bigint | boolean | null | Verbatim | readonly Ordered[] | OrderedRecord;

/** JSON text that is written as it is. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function orderedJson(value: Ordered): string {
  if (typeof value === 'string') return jsonText(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Verbatim) return value.text;
  if (isOrderedList(value)) return `[${value.map(orderedJson).join(',')}]`;
  const parts: string[] = [];
  for (const [key, one] of Object.entries(value)) if (one !== undefined) parts.push(`"${key}":${orderedJson(one)}`);
  return `{${parts.join(',')}}`;
}

function isOrderedList(value: readonly Ordered[] | OrderedRecord): value is readonly Ordered[] {
  return Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
