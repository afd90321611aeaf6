import { kinds } from '../../src/declare/kind.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import type { Cell } from '../../src/decode/read-cell.ts';
import type { Row } from '../../tools/object-decoder.ts';

/** Rows in a form in which equal values are equal: bytes as base64, and nothing but values. */
export function comparable(tables: Readonly<Record<string, readonly Row[]>>): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, plain(column, cell)]))),
    ]),
  );
}

const JSON_COLUMN = /currencies|^decoded$|_decoded$|prev_blocks|^json$|^_extra$/;

function plain(column: string, cell: Cell): unknown {
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('base64');
  if (typeof cell === 'string' && JSON_COLUMN.test(column)) return { json: JSON.parse(cell) as unknown };
  return cell;
}

/** Fails when a pipeline has a JSON column that `comparable` would compare as text. */
export function jsonColumns(pipeline: PipelineDef): readonly string[] {
  return pipeline.tables.flatMap((table) =>
    table.columns
      .filter((def) => kinds[def.kind].wire === 'json' && !JSON_COLUMN.test(def.name))
      .map((def) => def.name),
  );
}
