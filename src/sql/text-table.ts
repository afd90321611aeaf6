import type { TableConstructorOptions } from 'cli-table3';
import { visible } from '../core/visible.ts';
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
  return drawBox(stream, await firstRows(stream));
}

/** The first rows, one column per line, for rows that are too wide for a box. */
export async function linesOf(stream: RowStream): Promise<string> {
  return drawLines(stream, await firstRows(stream));
}

/** A box if it is not wider than a terminal, otherwise one column per line. */
export function fittedTo(width: number): (stream: RowStream) => Promise<string> {
  return async (stream) => {
    const rows = await firstRows(stream);
    const box = await drawBox(stream, rows);
    return box.indexOf('\n') > width ? drawLines(stream, rows) : box;
  };
}

interface FirstRows {
  readonly shown: string[][];
  /** A line with the number of all rows. */
  readonly total: string;
}

async function drawBox({ columns }: RowStream, { shown, total }: FirstRows): Promise<string> {
  const head = columns.map(({ name }) => name);
  const colAligns = columns.map(({ type }) => (isNumberType(type) ? 'right' : 'left'));
  return `${await drawTable(head, shown, { colAligns })}${total}`;
}

function drawLines(stream: RowStream, { shown, total }: FirstRows): string {
  const width = Math.max(...stream.columns.map(({ name }) => name.length));
  const names = stream.columns.map(({ name }) => name.padStart(width));
  const rows = shown.map((row) => names.map((name, at) => `${name} = ${row[at]}\n`).join(''));
  return [...rows, total].join('\n');
}

/** The first rows as texts. */
async function firstRows({ chunks, countRest }: RowStream): Promise<FirstRows> {
  const shown: string[][] = [];
  let count = 0;
  for await (const rows of chunks()) {
    for (const row of rows.slice(0, BOX_ROWS - count)) shown.push(row.map((value) => visible(textOf(value) ?? 'NULL')));
    count += rows.length;
    if (count >= BOX_ROWS) break;
  }
  count += await countRest();
  const more = count > BOX_ROWS ? `, of which ${BOX_ROWS} are shown; --format csv has all` : '';
  return { shown, total: `${count} ${count === 1 ? 'row' : 'rows'}${more}\n` };
}
