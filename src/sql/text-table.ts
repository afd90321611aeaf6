import type { TableConstructorOptions } from 'cli-table3';
import { isNumberType } from './number-type.ts';
import type { RowStream } from './query-result.ts';
import { textOf } from './row-text.ts';

const BOX_ROWS = 1000;

/** A table with borders. */
export async function drawTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: Pick<TableConstructorOptions, 'colAligns' | 'colWidths' | 'wordWrap'> = {},
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const table = new Table({ ...options, head: [...head], style: { head: [], border: [], compact: true } });
  for (const row of rows) table.push([...row]);
  return `${table.toString()}\n`;
}

/** A text box with the first rows, and the number of all rows. */
export async function boxOf(stream: RowStream): Promise<string> {
  const { shown, total } = await firstRows(stream);
  const head = stream.columns.map(({ name }) => name);
  const colAligns = stream.columns.map(({ type }) => (isNumberType(type) ? 'right' : 'left'));
  return `${await drawTable(head, shown, { colAligns })}${total}`;
}

/** The first rows, one column per line, for rows that are too wide for a box. */
export async function linesOf(stream: RowStream): Promise<string> {
  const { shown, total } = await firstRows(stream);
  const width = Math.max(...stream.columns.map(({ name }) => name.length));
  const names = stream.columns.map(({ name }) => name.padStart(width));
  const rows = shown.map((row) => names.map((name, at) => `${name} = ${row[at]}\n`).join(''));
  return [...rows, total].join('\n');
}

/** The first rows as texts, and a line with the number of all. */
async function firstRows({ lots, countRest }: RowStream): Promise<{ shown: string[][]; total: string }> {
  const shown: string[][] = [];
  let count = 0;
  for await (const rows of lots()) {
    for (const row of rows.slice(0, BOX_ROWS - count)) shown.push(row.map((value) => visible(textOf(value) ?? 'NULL')));
    count += rows.length;
    if (count >= BOX_ROWS) break;
  }
  count += await countRest();
  const more = count > BOX_ROWS ? `, of which ${BOX_ROWS} are shown; --format csv has all` : '';
  return { shown, total: `${count} ${count === 1 ? 'row' : 'rows'}${more}\n` };
}

/** Shows control characters as escapes: comments on the chain may contain terminal sequences. */
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
