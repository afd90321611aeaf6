import { BytesColumn, WordsColumn } from './columns.ts';
import type { Decoder } from './decoder.ts';
import type { AnyColumn } from './rows.ts';

/** The given records in the order that the records' table is sorted by. */
export function sortRecords(decoder: Decoder, records: Int32Array): Int32Array {
  let order = orders.get(decoder);
  if (order === undefined) {
    order = new RecordOrder(decoder);
    orders.set(decoder, order);
  }
  return order.sort(records);
}

/** One for each decoder, because functions that are made anew are compiled anew. */
const orders = new WeakMap<Decoder, RecordOrder>();

class RecordOrder {
  private readonly columns: readonly AnyColumn[];
  private readonly compare = (a: number, b: number): number => this.compareRows(a, b);

  constructor(decoder: Decoder) {
    const base = decoder.pipeline.tables.find((table) => table.rows.kind === 'records');
    this.columns = (base?.sort ?? []).map((name) => decoder.column(name));
  }

  sort(records: Int32Array): Int32Array {
    for (let i = 1; i < records.length; i++) {
      if (this.compareRows(records[i - 1] as number, records[i] as number) > 0) {
        return Int32Array.from(records).sort(this.compare);
      }
    }
    return records;
  }

  private compareRows(a: number, b: number): number {
    for (const column of this.columns) {
      const order = compareIn(column, a, b);
      if (order !== 0) return order;
    }
    return a - b;
  }
}

function compareIn(column: AnyColumn, a: number, b: number): number {
  if (column instanceof WordsColumn) {
    const { words, width } = column;
    if (width === 1) return ((words[a] as number) | 0) - ((words[b] as number) | 0);
    const high = ((words[2 * a + 1] as number) | 0) - ((words[2 * b + 1] as number) | 0);
    return high === 0 ? (words[2 * a] as number) - (words[2 * b] as number) : high;
  }
  if (!(column instanceof BytesColumn)) return 0;
  const { bytes, offsets } = column;
  const [from, to] = [offsets[a] as number, offsets[b] as number];
  return bytes.compare(bytes, to, offsets[b + 1], from, offsets[a + 1]);
}
