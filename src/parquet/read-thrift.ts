/** A structure of Thrift's compact protocol: values by the number of their field. */
export type Fields = readonly (Value | undefined)[];
type Value = number | boolean | Uint8Array | readonly (Value | undefined)[];

/** Types of the compact protocol, as far as Parquet metadata has them. */
const type = { true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Reads structures of Parquet metadata in Thrift's compact protocol. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Position after what was read. */
  get at(): number {
    return this.#at;
  }

  /** @throws {RangeError} if it goes beyond the end, or has a type that Parquet metadata does not have */
  struct(): Fields {
    const fields: Value[] = [];
    let field = 0;
    for (let header = this.#byte(); header !== 0; header = this.#byte()) {
      field = header >> 4 === 0 ? this.#zigzag() : field + (header >> 4);
      const kind = header & 15;
      fields[field] = kind === type.true || kind === type.false ? kind === type.true : this.#value(kind);
    }
    return fields;
  }

  #value(kind: number): Value {
    switch (kind) {
      case type.true:
      case type.false:
      case type.byte:
        return kind === type.byte ? this.#byte() : this.#byte() === type.true;
      case type.i16:
      case type.i32:
      case type.i64:
        return this.#zigzag();
      case type.binary:
        return this.#take(this.#varint());
      case type.list: {
        const header = this.#byte();
        const length = header >> 4 === 15 ? this.#varint() : header >> 4;
        return Array.from({ length }, () => this.#value(header & 15));
      }
      case type.struct:
        return this.struct() as Value;
      default:
        throw new RangeError(`expected a type of Parquet metadata, got ${kind}`);
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('the structure goes beyond the end');
    return byte;
  }

  #take(length: number): Uint8Array {
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError('the structure goes beyond the end');
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

export function structOf(fields: Fields | undefined, field: number): Fields | undefined {
  return fields?.[field] as Fields | undefined;
}

export function listOf<T extends Value | Fields>(fields: Fields | undefined, field: number): readonly T[] {
  return (fields?.[field] ?? []) as readonly T[];
}

export function numberOf(fields: Fields | undefined, field: number): number {
  return (fields?.[field] ?? 0) as number;
}

export function bytesOf(fields: Fields | undefined, field: number): Uint8Array | undefined {
  return fields?.[field] as Uint8Array | undefined;
}
