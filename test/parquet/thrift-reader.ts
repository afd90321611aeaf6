import { readFileSync } from 'node:fs';

/** A structure of Thrift's compact protocol: values by the number of their field. */
export type Fields = ReadonlyMap<number, Field>;
export type Field = bigint | boolean | Buffer | readonly Field[] | Fields;

/** Reads Thrift's compact protocol as its specification has it, apart from the writer under test. */
class CompactReader {
  at: number;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  struct(): Fields {
    const fields = new Map<number, Field>();
    let field = 0;
    for (;;) {
      const header = this.byte();
      if (header === 0) return fields;
      field = header >> 4 === 0 ? Number(this.zigzag()) : field + (header >> 4);
      const kind = header & 15;
      fields.set(field, kind <= 2 ? kind === 1 : this.value(kind));
    }
  }

  private value(kind: number): Field {
    if (kind === 1 || kind === 2) return this.byte() === 1;
    if (kind === 4 || kind === 5 || kind === 6) return this.zigzag();
    if (kind === 8) return this.take(Number(this.varint()));
    if (kind === 12) return this.struct();
    if (kind !== 9) throw new Error(`unexpected type ${kind} at ${this.at}`);
    const header = this.byte();
    const length = header >> 4 === 15 ? Number(this.varint()) : header >> 4;
    return Array.from({ length }, () => this.value(header & 15));
  }

  private byte(): number {
    return this.take(1).readUInt8();
  }

  private take(length: number): Buffer {
    this.at += length;
    if (this.at > this.bytes.length) throw new Error('a structure goes beyond the end');
    return this.bytes.subarray(this.at - length, this.at);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  private zigzag(): bigint {
    const value = this.varint();
    return (value >> 1n) ^ -(value & 1n);
  }
}

/** The structure at a place, and where it ends. */
export function readStruct(bytes: Buffer, at: number): { readonly fields: Fields; readonly end: number } {
  const reader = new CompactReader(bytes, at);
  return { fields: reader.struct(), end: reader.at };
}

export function struct(fields: Fields, field: number): Fields {
  return fields.get(field) as Fields;
}

export function list<T extends Field>(fields: Fields, field: number): readonly T[] {
  return (fields.get(field) ?? []) as readonly T[];
}

export function number(fields: Fields, field: number): number {
  return Number(fields.get(field));
}

/** One column of one row group. */
export interface ReadChunk {
  readonly name: string;
  readonly group: number;
  readonly rows: number;
  /** ColumnMetaData. */
  readonly meta: Fields;
  readonly columnIndex: Fields | undefined;
  readonly offsetIndex: Fields | undefined;
}

export interface ReadFile {
  readonly bytes: Buffer;
  readonly groups: readonly Fields[];
  readonly chunks: readonly ReadChunk[];
}

/** A file's footer and page index, by the letter of parquet.thrift. */
export function readParquet(path: string): ReadFile {
  const bytes = readFileSync(path);
  const { fields } = readStruct(bytes, bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8));
  const groups = list<Fields>(fields, 4);
  const structAt = (at: number, length: number) => {
    const { fields: found, end } = readStruct(bytes, at);
    if (end !== at + length) throw new Error(`a structure of ${length} bytes at ${at} ends at ${end}`);
    return found;
  };
  const chunks = groups.flatMap((row, group) =>
    list<Fields>(row, 1).map((chunk) => {
      const meta = struct(chunk, 3);
      return {
        name: String(list<Buffer>(meta, 3)[0]),
        group,
        rows: number(row, 3),
        meta,
        offsetIndex: chunk.has(4) ? structAt(number(chunk, 4), number(chunk, 5)) : undefined,
        columnIndex: chunk.has(6) ? structAt(number(chunk, 6), number(chunk, 7)) : undefined,
      };
    }),
  );
  return { bytes, groups, chunks };
}
