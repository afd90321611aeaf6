import type { RowStream } from './query-result.ts';
import { textOf } from './row-text.ts';

const NUMBER = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U[A-Z]*INT[A-Z]*|DECIMAL\(.*\)|FLOAT|DOUBLE)$/;
const BOX_ROWS = 1000;

export function isNumberType(type: string): boolean {
  return NUMBER.test(type);
}

/** A text box with the first rows, and the number of all rows. */
export async function boxOf({ columns, lots, countRest }: RowStream): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const isNumber = columns.map(({ type }) => isNumberType(type));
  const table = new Table({
    head: columns.map(({ name }) => name),
    colAligns: isNumber.map((right) => (right ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
  let count = 0;
  for await (const rows of lots()) {
    for (const row of rows.slice(0, BOX_ROWS - count)) table.push(row.map((value) => visible(textOf(value) ?? 'NULL')));
    count += rows.length;
    if (count >= BOX_ROWS) break;
  }
  count += await countRest();
  return `${table.toString()}\n${rowCount(count)}`;
}

/** The first rows, one column per line, for rows that are too wide for a box. */
export async function linesOf({ columns, lots, countRest }: RowStream): Promise<string> {
  const width = Math.max(...columns.map(({ name }) => name.length));
  const shown: string[] = [];
  let count = 0;
  for await (const rows of lots()) {
    for (const row of rows.slice(0, BOX_ROWS - count)) {
      const lines = columns.map(({ name }, at) => `${name.padStart(width)} = ${visible(textOf(row[at]) ?? 'NULL')}`);
      shown.push(`${lines.join('\n')}\n`);
    }
    count += rows.length;
    if (count >= BOX_ROWS) break;
  }
  count += await countRest();
  return `${[...shown, rowCount(count)].join('\n')}`;
}

function rowCount(count: number): string {
  const more = count > BOX_ROWS ? `, of which ${BOX_ROWS} are shown; --format csv has all` : '';
  return `${count} ${count === 1 ? 'row' : 'rows'}${more}\n`;
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
