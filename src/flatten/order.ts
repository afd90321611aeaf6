import { BytesColumn, WordsColumn } from './columns.ts';
import type { Decoder } from './decoder.ts';

/** The given records in the order that the records' table is sorted by. */
export function sortRecords(decoder: Decoder, records: Int32Array): Int32Array {
  const [base] = decoder.pipeline.tables.filter((table) => table.rows.kind === 'records');
  const compares = (base?.sort ?? []).map((name) => comparator(decoder.column(name)));
  const compare = (a: number, b: number): number => {
    for (const by of compares) {
      const order = by(a, b);
      if (order !== 0) return order;
    }
    return a - b;
  };
  for (let i = 1; i < records.length; i++) {
    if (compare(records[i - 1] as number, records[i] as number) > 0) return Int32Array.from(records).sort(compare);
  }
  return records;
}

function comparator(column: ReturnType<Decoder['column']>): (a: number, b: number) => number {
  if (column instanceof BytesColumn) {
    const { bytes, offsets } = column;
    const at = (row: number): number => offsets[row] as number;
    return (a, b) => bytes.compare(bytes, at(b), at(b + 1), at(a), at(a + 1));
  }
  if (!(column instanceof WordsColumn)) return () => 0;
  const { words, width } = column;
  if (width === 1) return (a, b) => ((words[a] as number) | 0) - ((words[b] as number) | 0);
  return (a, b) => {
    const high = ((words[2 * a + 1] as number) | 0) - ((words[2 * b + 1] as number) | 0);
    return high === 0 ? (words[2 * a] as number) - (words[2 * b] as number) : high;
  };
}
