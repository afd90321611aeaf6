import { closeSync, openSync, writevSync } from 'node:fs';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import { Arena } from '../flatten/arena.ts';
import type { Batch } from '../flatten/batch.ts';
import { encodeLevels, encodeValues } from './plainvalues.ts';
import { ThriftWriter } from './thrift.ts';

const magic = Buffer.from('PAR1');
const encoding = { plain: 0, rle: 3 } as const;
const repetition = { optional: 1 } as const;

interface Chunk {
  readonly offset: number;
  readonly bytes: number;
}

interface RowGroup {
  readonly rows: number;
  readonly chunks: readonly Chunk[];
}

/** Memory of the batch that is being written; writing does not yield, so one for all files. */
const arena = new Arena();

/**
 * Appends batches to an uncompressed Parquet file in PLAIN encoding, one row group for each. It is a form for the way from
 * our memory into DuckDB, which reads it for next to nothing: it has no statistics, no dictionary and no compression. Bytes are
 * handed to the system's cache at once, without a detour through other threads.
 */
export class PlainWriter {
  readonly table: TableDef;
  readonly path: string;
  readonly #file: number;
  readonly #groups: RowGroup[] = [];
  #position = 0;
  #isClosed = false;

  constructor(path: string, table: TableDef) {
    this.table = table;
    this.path = path;
    this.#file = openSync(path, 'wx');
    this.#append([magic]);
  }

  get rows(): number {
    return this.#groups.reduce((sum, group) => sum + group.rows, 0);
  }

  /** Writes the rows as one row group. The batch's memory may be reused afterwards. */
  write(batch: Batch): void {
    if (batch.rows === 0) return;
    arena.reset();
    const parts: Uint8Array[] = [];
    const chunks: Chunk[] = [];
    let offset = this.#position;
    for (const vector of batch.vectors) {
      const levels = encodeLevels(vector, batch.rows, arena);
      const values = encodeValues(vector, batch.rows, arena);
      const header = encodePageHeader(batch.rows, levels.length + values.length);
      const bytes = header.length + levels.length + values.length;
      parts.push(header, levels, values);
      chunks.push({ offset, bytes });
      offset += bytes;
    }
    this.#append(parts);
    this.#groups.push({ rows: batch.rows, chunks });
  }

  /** Writes the footer and closes the file. */
  finish(): void {
    const footer = encodeFooter(this.table.columns, this.#groups);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    try {
      this.#append([footer, length, magic]);
    } finally {
      this.abandon();
    }
  }

  /** Closes the file as it is: without its footer it stays unreadable. */
  abandon(): void {
    if (!this.#isClosed) closeSync(this.#file);
    this.#isClosed = true;
  }

  #append(parts: readonly Uint8Array[]): void {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    let done = writevSync(this.#file, parts, this.#position);
    // A disk that is nearly full takes a part of the bytes; asking again tells why.
    if (done < size) {
      const rest = Buffer.concat(parts);
      while (done < size) done += writevSync(this.#file, [rest.subarray(done)], this.#position + done);
    }
    this.#position += size;
  }
}

function encodePageHeader(rows: number, size: number): Uint8Array {
  const out = new ThriftWriter();
  out.struct(undefined, () => {
    out.i32(1, 0);
    out.i32(2, size);
    out.i32(3, size);
    out.struct(5, () => {
      out.i32(1, rows);
      out.i32(2, encoding.plain);
      out.i32(3, encoding.rle);
      out.i32(4, encoding.rle);
    });
  });
  return out.finish();
}

function encodeFooter(columns: readonly ColumnDef[], groups: readonly RowGroup[]): Uint8Array {
  const out = new ThriftWriter();
  out.struct(undefined, () => {
    out.i32(1, 1);
    out.list(2, 'struct', [undefined, ...columns], (column) => {
      if (column !== undefined) encodeColumn(out, column);
      else {
        out.struct(undefined, () => {
          out.text(4, 'root');
          out.i32(5, columns.length);
        });
      }
    });
    out.i64(
      3,
      groups.reduce((sum, group) => sum + group.rows, 0),
    );
    out.list(4, 'struct', groups, (group) => encodeGroup(out, columns, group));
    out.text(6, 'tonlake');
  });
  return out.finish();
}

function encodeGroup(out: ThriftWriter, columns: readonly ColumnDef[], group: RowGroup): void {
  out.struct(undefined, () => {
    out.list(
      1,
      'struct',
      group.chunks.map((chunk, at) => ({ chunk, column: columns[at] })),
      ({ chunk, column }) => {
        out.struct(undefined, () => {
          out.i64(2, chunk.offset);
          out.struct(3, () => {
            out.i32(1, column === undefined ? 0 : parquetType(column).physical);
            out.list(2, 'i32', [encoding.plain, encoding.rle], (value) => out.integer(value));
            out.list(3, 'binary', [column?.name ?? ''], (value) => out.element(value));
            out.i32(4, 0);
            out.i64(5, group.rows);
            out.i64(6, chunk.bytes);
            out.i64(7, chunk.bytes);
            out.i64(9, chunk.offset);
          });
        });
      },
    );
    out.i64(
      2,
      group.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0),
    );
    out.i64(3, group.rows);
  });
}

function encodeColumn(out: ThriftWriter, column: ColumnDef): void {
  const { physical, logical } = parquetType(column);
  out.struct(undefined, () => {
    out.i32(1, physical);
    if (logical?.kind === 'decimal') out.i32(2, 16);
    out.i32(3, repetition.optional);
    out.text(4, column.name);
    switch (logical?.kind) {
      case 'string':
        out.i32(6, 0);
        out.struct(10, () => out.struct(1, () => {}));
        break;
      case 'decimal': {
        const { precision } = logical;
        out.i32(6, 5);
        out.i32(7, 0);
        out.i32(8, precision);
        out.struct(10, () =>
          out.struct(5, () => {
            out.i32(1, 0);
            out.i32(2, precision);
          }),
        );
        break;
      }
      case 'date':
        out.i32(6, 6);
        out.struct(10, () => out.struct(6, () => {}));
        break;
      case 'timestamp':
        // No converted type: the old TIMESTAMP_MICROS would mean "adjusted to UTC".
        out.struct(10, () =>
          out.struct(8, () => {
            out.bool(1, false);
            out.struct(2, () => out.struct(2, () => {}));
          }),
        );
        break;
      case undefined:
        break;
    }
  });
}

type Logical =
  | { readonly kind: 'string' | 'date' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number };

interface ParquetType {
  /** BOOLEAN 0, INT32 1, INT64 2, BYTE_ARRAY 6, FIXED_LEN_BYTE_ARRAY 7. */
  readonly physical: number;
  readonly logical: Logical | undefined;
}

function parquetType(column: ColumnDef): ParquetType {
  const { physical, sql } = kinds[column.kind];
  switch (physical) {
    case 'utf8':
      return { physical: 6, logical: { kind: 'string' } };
    case 'binary':
      return { physical: 6, logical: undefined };
    case 'bool':
      return { physical: 0, logical: undefined };
    case 'int32':
      return { physical: 1, logical: sql === 'DATE' ? { kind: 'date' } : undefined };
    case 'int64':
      return { physical: 2, logical: sql === 'TIMESTAMP' ? { kind: 'timestamp' } : undefined };
    case 'decimal128': {
      const precision = /^DECIMAL\((\d+),0\)$/.exec(sql)?.[1];
      return { physical: 7, logical: { kind: 'decimal', precision: Number(precision ?? 38) } };
    }
  }
}
