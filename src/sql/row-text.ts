import { oncePer } from '../core/once-per.ts';
import { duckdbApi } from './duckdb-api.ts';
import type { QueryResult, RowStream } from './query-result.ts';

/** `jsonl`: an object per line. */
export type TextFormat = 'csv' | 'json' | 'jsonl';

/** Text before the first row, between rows, and after the last row. */
const AROUND = { json: ['[', ',\n', ']\n'], jsonl: ['', '\n', '\n'] } as const;

/**
 * The text of a stream of rows, in pieces: CSV (RFC 4180), one JSON array of objects, or JSON lines. Integers keep all digits; nested values
 * are nested in JSON, and DuckDB's text in CSV.
 */
export async function* textOfRows(
  { columns, chunks }: RowStream,
  format: TextFormat,
  onRows: (count: number) => void = () => {},
): AsyncGenerator<string> {
  const isCsv = format === 'csv';
  const names = columns.map(({ name }) => name);
  const [head, between, end] = isCsv ? [`${csvLine(names)}\n`, '\n', '\n'] : AROUND[format];
  let isEmpty = true;
  for await (const rows of chunks()) {
    if (rows.length === 0) continue;
    const lines = isCsv ? csvRows({ columns, rows }) : jsonRows({ columns, rows });
    onRows(rows.length);
    yield `${isEmpty ? head : between}${[...lines].join(between)}`;
    isEmpty = false;
  }
  if (!isEmpty) yield end;
  else if (format !== 'jsonl') yield isCsv ? head : '[]\n';
}

export function* csvRows(result: QueryResult): Generator<string> {
  for (const row of result.rows) yield csvLine(row.map(textOf));
}

/** Null is an empty field, an empty text is `""`. */
export function csvLine(cells: readonly (string | null | undefined)[]): string {
  return cells
    .map((cell) => (cell === '' || /[",\r\n]/.test(cell ?? '') ? `"${cell?.replaceAll('"', '""')}"` : cell))
    .join(',');
}

export function* jsonRows(result: QueryResult): Generator<string> {
  for (const row of result.rows) {
    const fields = result.columns.map(({ name }, i) => `${JSON.stringify(name)}:${jsonOf(row[i])}`);
    yield `{${fields.join(',')}}`;
  }
}

/**
 * Lists as arrays, structs and maps as objects. Integers and decimals are plain digits, also inside of them: JSON does not limit
 * numbers.
 */
function jsonOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return String(value);
  const parts = partsOf(value);
  switch (parts.kind) {
    case 'number':
      return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(String(value)) ? String(value) : 'null';
    case 'items':
      return `[${parts.items.map(jsonOf).join(',')}]`;
    case 'fields':
      return `{${parts.fields.map(([name, field]) => `${JSON.stringify(String(name))}:${jsonOf(field)}`).join(',')}}`;
    case 'other':
      return JSON.stringify(textOf(value));
  }
}

/** A value with all its digits, as DuckDB casts it to text; undefined for null. */
export function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value;
  const text = String(value);
  return typeof value === 'object' ? (infiniteTexts(duckdbApi()).get(text) ?? text) : text;
}

/**
 * DuckDB's text of infinite dates and times, by the text of its JavaScript API, which shows them as the day after the last one.
 */
const infiniteTexts = oncePer((api: ReturnType<typeof duckdbApi>): ReadonlyMap<string, string> => {
  const ends = [
    api.DuckDBDateValue,
    api.DuckDBTimestampSecondsValue,
    api.DuckDBTimestampMillisecondsValue,
    api.DuckDBTimestampNanosecondsValue,
  ];
  return new Map(
    ends.flatMap(({ PosInf, NegInf }) => [
      [String(PosInf), 'infinity'],
      [String(NegInf), '-infinity'],
    ]),
  );
});

/** The parts of a result value. */
type Parts =
  /** A list or an array. */
  | { readonly kind: 'items'; readonly items: readonly unknown[] }
  /** A struct, a map (keys of any type), or the active member of a union. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [unknown, unknown])[] }
  /** Integers, decimals and floats. */
  | { readonly kind: 'number' }
  | { readonly kind: 'other' };

/** Splits a result value by one level. */
function partsOf(value: unknown): Parts {
  if (typeof value === 'number' || typeof value === 'bigint') return { kind: 'number' };
  if (typeof value !== 'object') return { kind: 'other' };
  const { DuckDBArrayValue, DuckDBListValue, DuckDBMapValue, DuckDBStructValue, DuckDBUnionValue, DuckDBDecimalValue } =
    duckdbApi();
  if (value instanceof DuckDBDecimalValue) return { kind: 'number' };
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return { kind: 'items', items: value.items };
  if (value instanceof DuckDBStructValue) return { kind: 'fields', fields: Object.entries(value.entries) };
  if (value instanceof DuckDBMapValue)
    return { kind: 'fields', fields: value.entries.map((entry) => [entry.key, entry.value]) };
  if (value instanceof DuckDBUnionValue) return { kind: 'fields', fields: [[value.tag, value.value]] };
  return { kind: 'other' };
}
