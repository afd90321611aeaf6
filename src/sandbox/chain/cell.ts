import { hash } from 'node:crypto';

/** Maximum number of bits and references of a cell. */
const MAX_BITS = 1023;
const MAX_REFS = 4;

/** A hash of 32 zeros, which stands for none. Base64. */
export const ZERO_HASH = `${'A'.repeat(43)}=`;

/** The parts of a cell that a reference to it contains. */
export interface CellRef {
  /** Base64. */
  readonly hash: string;
  readonly depth: number;
}

export interface Cell extends CellRef {
  /** Data, padded with a 1 and zeros. */
  readonly bytes: Buffer;
  /** Number of bits. */
  readonly length: number;
  readonly refs: readonly Cell[];
}

/** Scratch space for the hashed bytes: two descriptor bytes, the data, depths and hashes of the references. */
const scratch = Buffer.alloc(2 + 128 + MAX_REFS * 34);

/** Data of cells that are finished, zeroed, for those that come. */
const spare: Buffer[] = [];

/** Writes the bits and references of one cell. */
export class CellBuilder<Ref extends CellRef = Cell> {
  readonly #bytes = spare.pop() ?? Buffer.alloc(128);
  #length = 0;
  readonly #refs: Ref[] = [];

  /** The lowest bits of an integer, negative ones in two's complement. */
  uint(value: number, width: number): this {
    if (width > 32) return this.uint(Math.floor(value / 4294967296), width - 32).uint(value % 4294967296, 32);
    for (let left = width; left > 0; ) {
      const room = 8 - (this.#length & 7);
      const take = Math.min(room, left);
      const part = (value >>> (left - take)) & ((1 << take) - 1);
      const at = this.#length >> 3;
      this.#bytes[at] = (this.#bytes[at] as number) | (part << (room - take));
      this.#length += take;
      left -= take;
    }
    return this;
  }

  bit(isSet: boolean): this {
    return this.uint(isSet ? 1 : 0, 1);
  }

  big(value: bigint, width: number): this {
    if (width <= 32) return this.uint(Number(value & 0xffffffffn), width);
    return this.big(value >> 32n, width - 32).uint(Number(value & 0xffffffffn), 32);
  }

  raw(bytes: Uint8Array): this {
    const shift = this.#length & 7;
    let at = this.#length >> 3;
    if (shift === 0) this.#bytes.set(bytes, at);
    else {
      for (const byte of bytes) {
        this.#bytes[at] = (this.#bytes[at] as number) | (byte >> shift);
        at += 1;
        this.#bytes[at] = (byte << (8 - shift)) & 255;
      }
    }
    this.#length += bytes.length * 8;
    return this;
  }

  /** A hash in base64. */
  hash(text: string): this {
    return this.raw(Buffer.from(text, 'base64'));
  }

  /** A number and, before it, how many bytes it takes: 4 bits for coins, 3 for gas and sizes, 5 for extra currencies. */
  variable(value: number | bigint | string, lengthBits = 4): this {
    const number = typeof value === 'string' ? BigInt(value) : value;
    let bytes = 0;
    if (typeof number === 'number') for (let rest = number; rest >= 1; rest /= 256) bytes += 1;
    else if (number > 0n) bytes = Math.ceil(number.toString(16).length / 2);
    this.uint(bytes, lengthBits);
    return typeof number === 'number' ? this.uint(number, bytes * 8) : this.big(number, bytes * 8);
  }

  /** A standard address without anycast; undefined for none. */
  address(raw: string | undefined): this {
    if (raw === undefined) return this.uint(0, 2);
    return this.uint(0b100, 3).uint(Number.parseInt(raw, 10), 8).raw(idOf(raw));
  }

  /** A bit that says whether there is a value, and the value. */
  maybe<T>(value: T | undefined, write: (value: T) => void): this {
    this.bit(value !== undefined);
    if (value !== undefined) write(value);
    return this;
  }

  ref(...cells: readonly Ref[]): this {
    this.#refs.push(...cells);
    return this;
  }

  /** The bits and references of a cell. */
  inline(cell: Cell & { readonly refs: readonly Ref[] }): this {
    const whole = cell.length >> 3;
    this.raw(cell.bytes.subarray(0, whole));
    const rest = cell.length & 7;
    if (rest > 0) this.uint((cell.bytes[whole] as number) >> (8 - rest), rest);
    return this.ref(...cell.refs);
  }

  /** True if a cell fits into this one, with `more` other bits. */
  fits({ length, refs }: Cell, more: number): boolean {
    return this.#length + more + length <= MAX_BITS && this.#refs.length + refs.length <= MAX_REFS;
  }

  /** Hash and depth of the cell, which ends the builder. */
  digest(): CellRef {
    const digest = this.#digest();
    this.#bytes.fill(0);
    spare.push(this.#bytes);
    return digest;
  }

  #digest(): CellRef {
    const refs = this.#refs;
    const size = this.#pad();
    scratch[0] = refs.length;
    scratch[1] = (this.#length >> 3) + size;
    this.#bytes.copy(scratch, 2, 0, size);
    let at = 2 + size;
    let depth = 0;
    for (const ref of refs) {
      at = scratch.writeUInt16BE(ref.depth, at);
      depth = Math.max(depth, ref.depth + 1);
    }
    for (const ref of refs) at += scratch.write(ref.hash, at, 'base64');
    return { hash: hash('sha256', scratch.subarray(0, at), 'base64'), depth };
  }

  /** Pads the data; returns its size in bytes. */
  #pad(): number {
    const rest = this.#length & 7;
    const at = this.#length >> 3;
    if (rest > 0) this.#bytes[at] = (this.#bytes[at] as number) | (0x80 >> rest);
    return rest > 0 ? at + 1 : at;
  }

  end(this: CellBuilder<Cell>): Cell {
    const { hash, depth } = this.#digest();
    return { hash, depth, bytes: this.#bytes.subarray(0, this.#pad()), length: this.#length, refs: this.#refs };
  }
}

/** The 32 bytes of a raw address after its workchain. */
export function idOf(raw: string): Buffer {
  return Buffer.from(raw.slice(-64), 'hex');
}

/** Starts a cell. */
export function build(): CellBuilder {
  return new CellBuilder();
}

/** A cell of bytes alone. */
export function byteCell(bytes: Uint8Array): Cell {
  return build().raw(bytes).end();
}

/** The bag of cells with checksum, standard base64. At most 255 cells. */
export function toBoc(root: Cell): string {
  const order = [root];
  const parts: Buffer[] = [];
  // The loop also visits the cells that it adds.
  for (const { bytes, length, refs } of order) {
    const links = refs.map((ref) => order.push(ref) - 1);
    parts.push(Buffer.from([refs.length, (length >> 3) + bytes.length]), bytes, Buffer.from(links));
  }
  const bodies = Buffer.concat(parts);
  const sizes = Buffer.alloc(bodies.length > 255 ? 2 : 1);
  sizes.writeUIntBE(bodies.length, 0, sizes.length);
  const start = Buffer.from([0xb5, 0xee, 0x9c, 0x72, 0x41, sizes.length, order.length, 1, 0]);
  const whole = Buffer.concat([start, sizes, Buffer.from([0]), bodies]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32c(whole));
  return Buffer.concat([whole, sum]).toString('base64');
}

const CRC_TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value >>> 0;
});

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Bytes after an opcode in a chain of cells, which long texts need. */
export function snake(opcode: number | undefined, bytes: Uint8Array): Cell {
  const builder = build();
  if (opcode !== undefined) builder.uint(opcode, 32);
  const room = opcode === undefined ? 127 : 123;
  builder.raw(bytes.subarray(0, room));
  return bytes.length > room ? builder.ref(snake(undefined, bytes.subarray(room))).end() : builder.end();
}

/** The writer of a value of a dictionary. */
type Leaf = (leaf: CellBuilder<CellRef>) => void;

/** A dictionary's root; keys are ascending and have `width` bits, at most 32. */
export function dictionary(entries: readonly (readonly [key: number, write: Leaf])[], width: number): CellRef {
  const [first, last] = [entries[0]?.[0] ?? 0, entries.at(-1)?.[0] ?? 0];
  // Keys are ascending, so the first and the last differ before any others do.
  let common = width;
  while (Math.floor(first / 2 ** (width - common)) !== Math.floor(last / 2 ** (width - common))) common -= 1;
  const builder = new CellBuilder<CellRef>();
  writeLabel(builder, Math.floor(first / 2 ** (width - common)), common, width);
  if (entries.length === 1) entries[0]?.[1](builder);
  else {
    const rest = width - common - 1;
    const half = 2 ** rest;
    const side = (bit: 0 | 1): CellRef => {
      const own = entries.filter(([key]) => Math.floor(key / half) % 2 === bit);
      return dictionary(
        own.map(([key, write]) => [key % half, write]),
        rest,
      );
    };
    builder.ref(side(0), side(1));
  }
  return builder.digest();
}

/** The shortest form of a label of `length` bits where there can be `most`. */
function writeLabel(builder: CellBuilder<CellRef>, label: number, length: number, most: number): void {
  const lengthBits = 32 - Math.clz32(most);
  const isOnes = label === 2 ** length - 1;
  if (length > 1 && (label === 0 || isOnes) && lengthBits < 2 * length - 1) {
    builder.uint(0b11, 2).bit(isOnes).uint(length, lengthBits);
  } else if (lengthBits < length) builder.uint(0b10, 2).uint(length, lengthBits).uint(label, length);
  else {
    builder.uint(0, 1);
    for (let at = 0; at < length; at += 1) builder.uint(1, 1);
    builder.uint(0, 1).uint(label, length);
  }
}
