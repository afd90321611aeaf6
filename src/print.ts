import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { partsOf } from './store/nested.ts';
import type { QueryResult } from './store/store.ts';

export type SqlFormat = 'box' | 'csv' | 'json';

const NUMBER = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U[A-Z]*INT[A-Z]*|DECIMAL\(.*\)|FLOAT|DOUBLE)$/;
const BOX_ROWS = 1000;

export function isNumberType(type: string): boolean {
  return NUMBER.test(type);
}

/** Writes a result: a box for people, CSV (RFC 4180), or one JSON array of objects. Integers keep all their digits; nested values are
 * nested in JSON, and DuckDB's text elsewhere. */
export async function printResult(result: QueryResult, format: SqlFormat, out: Writable): Promise<void> {
  switch (format) {
    case 'box':
      return write(out, await boxOf(result));
    case 'csv':
      return writeRows(out, '', '', '\n', [csvLine(result.columns.map(({ name }) => name)), ...csvRows(result)]);
    case 'json':
      return writeRows(out, '[', ']\n', ',\n', jsonRows(result));
  }
}

async function boxOf(result: QueryResult): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const isNumber = result.columns.map(({ type }) => isNumberType(type));
  const table = new Table({
    head: result.columns.map(({ name }) => name),
    colAligns: isNumber.map((right) => (right ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
  for (const row of result.rows.slice(0, BOX_ROWS)) table.push(row.map((value) => visible(textOf(value) ?? 'NULL')));
  const count = result.rows.length;
  const more = count > BOX_ROWS ? `, of which ${BOX_ROWS} are shown; --format csv has all` : '';
  return `${table.toString()}\n${count} ${count === 1 ? 'row' : 'rows'}${more}\n`;
}

/** Comments of the chain may hold anything, also what a terminal obeys: control characters are shown as escapes. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_C}]/gu, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, escaped),
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function* csvRows(result: QueryResult): Generator<string> {
  for (const row of result.rows) yield csvLine(row.map(textOf));
}

/** A null is nothing between two commas, an empty text is `""`. */
export function csvLine(cells: readonly (string | undefined)[]): string {
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
 * Lists as arrays, structs and maps as objects. Integers and decimals as bare digits, inside them too: JSON has no bound for them,
 * and a reader that has one is not ours to guess.
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

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? value : String(value);
}

async function writeRows(
  out: Writable,
  head: string,
  tail: string,
  between: string,
  rows: Iterable<string>,
): Promise<void> {
  let text = head;
  let isFirst = true;
  for (const row of rows) {
    text += isFirst ? row : between + row;
    isFirst = false;
    if (text.length > 1 << 16) {
      await write(out, text);
      text = '';
    }
  }
  await write(out, text + (between === '\n' && !isFirst ? '\n' : '') + tail);
}

async function write(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain');
}
