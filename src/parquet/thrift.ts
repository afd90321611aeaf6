/** Types of the Thrift compact protocol. */
const type = { true: 1, false: 2, bool: 1, i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

/** Writes structures in Thrift's compact protocol, as far as Parquet metadata needs it. */
class ThriftWriter {
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

  binary(field: number, value: Uint8Array): void {
    this.#header(field, type.binary);
    this.bytes(value);
  }

  /** Begins a structure: a field, or a list element if `field` is undefined. `end` ends it. */
  begin(field?: number): void {
    if (field !== undefined) this.#header(field, type.struct);
    this.#outer.push(this.#field);
    this.#field = 0;
  }

  end(): void {
    this.#byte(0);
    this.#field = this.#outer.pop() ?? 0;
  }

  /** A structure without fields. */
  empty(field?: number): void {
    this.begin(field);
    this.end();
  }

  /** Begins a list; its elements follow. */
  list(field: number, kind: 'bool' | 'i32' | 'i64' | 'binary' | 'struct', length: number): void {
    this.#header(field, type.list);
    if (length < 15) {
      this.#byte((length << 4) | type[kind]);
    } else {
      this.#byte(0xf0 | type[kind]);
      this.#varint(length);
    }
  }

  /** A number as a list element. No number of a footer or page is negative. */
  integer(value: number): void {
    this.#varint(value * 2);
  }

  /** A text as a list element. */
  element(value: string): void {
    const size = Buffer.byteLength(value);
    this.#varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(value, this.#length);
  }

  /** Bytes as a list element. */
  bytes(value: Uint8Array): void {
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** A boolean as a list element. */
  truth(value: boolean): void {
    this.#byte(value ? type.true : type.false);
  }

  /** A copy of the bytes so far; the writer is empty afterwards. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
    this.#length = 0;
    this.#field = 0;
    return taken;
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

/**
 * The writer of all metadata: it is empty after each `take`. Only one, because V8 recompiles the code when the last object of a class is
 * gone.
 */
export const out = new ThriftWriter();
