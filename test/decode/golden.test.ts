import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import type { Cell } from '../../src/decode/read-cell.ts';
import type { Row } from '../../tools/object-decoder.ts';
import { goldenCases } from '../fixtures.ts';
import { read } from './reading.ts';

type Tables = Readonly<Record<string, readonly unknown[]>>;

/** A row as golden files hold it: numbers in decimal digits, bytes in base64, null columns left out. */
function golden(row: Row): Record<string, string | boolean> {
  const cells = Object.entries(row).flatMap(([name, cell]) =>
    cell === null ? [] : [[name, goldenCell(cell)] as const],
  );
  return Object.fromEntries(cells);
}

function goldenCell(cell: Exclude<Cell, null>): string | boolean {
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('base64');
  return typeof cell === 'bigint' ? cell.toString() : cell;
}

/** One row a line, so that a change of one value is one changed line. */
function format(tables: Tables): string {
  const lists = Object.entries(tables).map(
    ([name, rows]) => `${JSON.stringify(name)}: [\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`,
  );
  return `{\n${lists.join(',\n')}\n}\n`;
}

describe.each([blocks, transactions])('pipeline $name', (pipeline) => {
  it.each(goldenCases(pipeline.name))('$name: the answer gives exactly these rows', ({ folder }) => {
    const { tables, refused, unknown } = read(pipeline, readFileSync(new URL('answer.json', folder)));
    const rows = Object.fromEntries(Object.entries(tables).map(([name, list]) => [name, list.map(golden)]));
    const file = new URL('rows.json', folder);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, format(rows));
    expect(rows).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(refused).toEqual([]);
    expect([...unknown]).toEqual([]);
  });
});
