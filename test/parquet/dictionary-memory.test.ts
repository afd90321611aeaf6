import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ColumnDictionary } from '../../src/parquet/column-pages.ts';
import { everything } from '../warehouse/tables.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

test('the dictionary of one large column does not make those of the others large, whatever order they are opened in', () => {
  const columns = everything.columns.filter(({ kind }) => kind === 'int32').slice(0, 1);
  const [model] = columns;
  if (model === undefined) throw new Error('expected a column of 32 bits');
  const [large, ...small] = Array.from({ length: 20 }, (_, at) => ({ ...model, name: `c${at}` }));
  const entries = new Uint8Array(Int32Array.from({ length: 200_000 }, (_, at) => at).buffer);
  const round = (turn: number): number => {
    const order = [large, ...small].map((_, at, all) => all[(at + turn) % all.length] ?? model);
    const open = order.map((column) => {
      const dictionary = new ColumnDictionary(column);
      const given = column === large ? entries : entries.subarray(0, 40);
      expect(dictionary.merge(given, given.length / 4)?.[9]).toBe(9);
      return dictionary;
    });
    for (const dictionary of open) dictionary.release();
    return usedBytes();
  };
  const once = round(0);
  for (let turn = 1; turn < 8; turn++) expect(round(turn) - once).toBeLessThan(4 * entries.length);
});
