/** Types of the Thrift compact protocol. */
const type = { true: 1, false: 2, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Writes structures in Thrift's compact protocol: just what a Parquet footer needs. */
export class ThriftWriter {
  #bytes = Buffer.alloc(1024);
  #length = 0;
  #field = 0;
  readonly #outer: number[] = [];

  bool(field: number, value: boolean): void {
    this.#header(field, value ? type.true : type.false);
  }

  i32(field: number, value: number): void {
    this.#header(field, type.i32);
    this.integer(value);
  }

  i64(field: number, value: number): void {
    this.#header(field, type.i64);
    this.integer(value);
  }

  text(field: number, value: string): void {
    this.#header(field, type.binary);
    this.element(value);
  }

  /** A structure as a field, or as an element of a list when `field` is undefined. */
  struct(field: number | undefined, body: () => void): void {
    if (field !== undefined) this.#header(field, type.struct);
    this.#outer.push(this.#field);
    this.#field = 0;
    body();
    this.#byte(0);
    this.#field = this.#outer.pop() ?? 0;
  }

  list<T>(field: number, kind: 'i32' | 'binary' | 'struct', values: readonly T[], body: (value: T) => void): void {
    this.#header(field, type.list);
    if (values.length < 15) {
      this.#byte((values.length << 4) | type[kind]);
    } else {
      this.#byte(0xf0 | type[kind]);
      this.#varint(values.length);
    }
    for (const value of values) body(value);
  }

  /** A number as an element of a list. */
  integer(value: number): void {
    this.#varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  /** A text as an element of a list. */
  element(value: string): void {
    const size = Buffer.byteLength(value);
    this.#varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(value, this.#length);
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #header(field: number, kind: number): void {
    const step = field - this.#field;
    if (step > 0 && step < 16) {
      this.#byte((step << 4) | kind);
    } else {
      this.#byte(kind);
      this.integer(field);
    }
    this.#field = field;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.#byte((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.#byte(rest);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** A number in unsigned LEB128, as headers of runs use it. */
export function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
