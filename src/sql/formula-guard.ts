import { isIdentifier } from './identifiers.ts';
import type { QueryResult, RowStream, Stream } from './query-result.ts';
import type { RelationSource } from './relation-writer.ts';
import { textOf } from './row-text.ts';

/** Texts that spreadsheets calculate when they open a CSV file. */
const FORMULA = /^[=+\-@\t\r]/;
/** Numbers may begin with a sign as well. */
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/**
 * Rows for a CSV file that people open. Prefixes texts that a spreadsheet would calculate with an apostrophe, so that it shows them as text;
 * also column names, which a PIVOT takes from the rows.
 *
 * @param onGuarded called with the column name for each such text
 */
function withoutFormulas(
  { columns, chunks, countRest }: RowStream,
  onGuarded: (column: string) => void = () => undefined,
): RowStream {
  return {
    columns: columns.map((column) => ({ ...column, name: guarded(column.name, () => onGuarded(column.name)) })),
    countRest,
    async *chunks() {
      for await (const rows of chunks()) {
        yield rows.map((row) => row.map((value, at) => guarded(value, () => onGuarded(columns[at]?.name ?? ''))));
      }
    },
  };
}

/** A source whose streams are {@link withoutFormulas}. */
export function guardedSource(source: RelationSource, onGuarded?: (column: string) => void): RelationSource {
  const stream: Stream = (sql, parameters, use) =>
    source.stream(sql, parameters, (found) => use(withoutFormulas(found, onGuarded)));
  return { query: source.query, stream };
}

/** As {@link withoutFormulas}, for a complete result. */
export function resultWithoutFormulas({ columns, rows }: QueryResult): QueryResult {
  return {
    columns: columns.map((column) => ({ ...column, name: guarded(column.name) })),
    rows: rows.map((row) => row.map((value) => guarded(value))),
  };
}

function guarded<T>(value: T, onGuarded?: () => void): T | string {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  // Bytes and members of unions are printed as text as well.
  const text = textOf(value);
  // Addresses and hashes can begin with a sign, but are no formulas; other programs join by them.
  if (text === undefined || !FORMULA.test(text) || NUMBER.test(text) || isIdentifier(text)) return value;
  onGuarded?.();
  return `'${text}`;
}
