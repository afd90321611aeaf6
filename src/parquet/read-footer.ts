import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../decode/batch.ts';
import { decodeColumn } from './decode-column.ts';
import { type ColumnChunk, encodeSchema, type RowGroup, WRITER } from './file-footer.ts';
import { pageKinds } from './page-header.ts';
import type { IndexedPage } from './page-index.ts';
import { bytesOf, type Fields, listOf, numberOf, structOf, ThriftReader } from './read-thrift.ts';
import type { Bounds } from './statistics.ts';

/** Length of the footer, and the magic after it. */
const TAIL = 8;

function startOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length - TAIL - view.getUint32(bytes.length - TAIL, true);
}

/**
 * The row groups of a whole file.
 *
 * @returns undefined if it is not a file of `FileWriter` with exactly these columns and a page index
 * @throws {RangeError} if the footer is truncated
 */
export function readFooter(bytes: Uint8Array, columns: readonly ColumnDef[]): readonly RowGroup[] | undefined {
  const start = startOf(bytes);
  const schema = encodeSchema(columns);
  if (Buffer.compare(bytes.subarray(start, start + schema.length), schema) !== 0) return undefined;
  const footer = new ThriftReader(bytes, start).struct();
  if (String(Buffer.from(bytesOf(footer, 6) ?? [])) !== WRITER) return undefined;
  const groups: RowGroup[] = [];
  for (const group of listOf<Fields>(footer, 4)) {
    const chunks = listOf<Fields>(group, 1).flatMap((chunk) => readChunk(bytes, chunk) ?? []);
    if (chunks.length !== columns.length) return undefined;
    groups.push({
      rows: numberOf(group, 3),
      chunks,
      sortedBy: listOf<Fields>(group, 4).map((sorting) => numberOf(sorting, 1)),
    });
  }
  return groups;
}

/** Decodes a whole file that DuckDB wrote without compression, with these columns; one batch per row group. */
export function* decodeGroups(bytes: Uint8Array, table: TableDef, columns: readonly ColumnDef[]): Generator<Batch> {
  for (const group of listOf<Fields>(new ThriftReader(bytes, startOf(bytes)).struct(), 4)) {
    const rows = numberOf(group, 3);
    const vectors = listOf<Fields>(group, 1).map((chunk, at) => {
      const meta = structOf(chunk, 3);
      const place = { offset: numberOf(meta, 11) || numberOf(meta, 9), bytes: numberOf(meta, 7), rows };
      return decodeColumn(columns[at] as ColumnDef, bytes, place);
    });
    yield { table, rows, vectors };
  }
}

/** @returns undefined without a page index */
function readChunk(bytes: Uint8Array, fields: Fields): ColumnChunk | undefined {
  const meta = structOf(fields, 3);
  if (fields[4] === undefined || fields[6] === undefined) return undefined;
  const pages = readPages(bytes, numberOf(fields, 4), numberOf(fields, 6));
  const statistics = structOf(meta, 12);
  const [max, min] = [bytesOf(statistics, 5), bytesOf(statistics, 6)];
  const counts = listOf<Fields>(meta, 13).filter((count) => numberOf(count, 1) === pageKinds.data);
  return {
    offset: numberOf(meta, 11) || numberOf(meta, 9),
    dataOffset: numberOf(meta, 9),
    encodings: new Map(counts.map((count) => [numberOf(count, 2), numberOf(count, 3)])),
    codec: numberOf(meta, 4),
    rows: numberOf(meta, 5),
    bytes: numberOf(meta, 7),
    rawBytes: numberOf(meta, 6),
    nulls: numberOf(statistics, 3),
    bounds: min === undefined || max === undefined ? undefined : { min, max, isMinExact: true, isMaxExact: true },
    pages,
    bloomFilter: meta?.[14] === undefined ? undefined : { offset: numberOf(meta, 14), bytes: numberOf(meta, 15) },
  };
}

function readPages(bytes: Uint8Array, offsetIndex: number, columnIndex: number): readonly IndexedPage[] {
  const index = new ThriftReader(bytes, columnIndex).struct();
  const nullPages = listOf<boolean>(index, 1);
  const [mins, maxs, nulls] = [listOf<Uint8Array>(index, 2), listOf<Uint8Array>(index, 3), listOf<number>(index, 5)];
  const boundsOf = (page: number): Bounds | undefined => {
    const [min, max] = [mins[page], maxs[page]];
    // They may have been truncated.
    const isExact = { isMinExact: false, isMaxExact: false };
    return nullPages[page] === true || min === undefined || max === undefined ? undefined : { min, max, ...isExact };
  };
  return listOf<Fields>(new ThriftReader(bytes, offsetIndex).struct(), 1).map((place, page) => ({
    offset: numberOf(place, 1),
    bytes: numberOf(place, 2),
    firstRow: numberOf(place, 3),
    nulls: nulls[page] ?? 0,
    bounds: boundsOf(page),
  }));
}
