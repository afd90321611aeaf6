import { type Bag, type Cell, SPECIAL } from '../proof/bag-of-cells.ts';

/** Why a body does not match a layout. Not an `Error`: many bodies of a query may not match, and a stack trace costs more than reading one. */
export class Mismatch {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Reads a cell from its beginning. */
export class Slice {
  readonly bag: Bag;
  readonly cell: Cell;
  readonly index: number;
  bit = 0;
  ref = 0;

  constructor(bag: Bag, index = bag.root) {
    const cell = bag.cells[index];
    if (cell === undefined) throw new Mismatch('no cell');
    this.bag = bag;
    this.cell = cell;
    this.index = index;
  }

  /** A copy at the same position. */
  copy(): Slice {
    const slice = new Slice(this.bag, this.index);
    slice.bit = this.bit;
    slice.ref = this.ref;
    return slice;
  }

  get bitsLeft(): number {
    return this.cell.bits - this.bit;
  }

  get refsLeft(): number {
    return this.cell.refs.length - this.ref;
  }

  /** True for a pruned branch, a reference to a library, a Merkle proof or update. */
  get isSpecial(): boolean {
    return (this.cell.flags & SPECIAL) !== 0;
  }

  /** At most 32 bits. */
  number(bits: number): number {
    if (this.bitsLeft < bits) throw new Mismatch(`expected ${bits} bits, got ${this.bitsLeft}`);
    const { data } = this.cell;
    const end = (this.bit & 7) + bits;
    let value = 0;
    // At most 5 bytes, which a number holds.
    for (let at = this.bit >> 3, left = end; left > 0; at++, left -= 8) value = value * 256 + (data[at] as number);
    this.bit += bits;
    return Math.floor(value / 2 ** ((8 - (end & 7)) & 7)) % 2 ** bits;
  }

  uint(bits: number): bigint {
    if (this.bitsLeft < bits) throw new Mismatch(`expected ${bits} bits, got ${this.bitsLeft}`);
    const first = bits % 32 || Math.min(bits, 32);
    let value = BigInt(this.number(first));
    for (let left = bits - first; left > 0; left -= 32) value = (value << 32n) | BigInt(this.number(32));
    return value;
  }

  int(bits: number): bigint {
    return BigInt.asIntN(bits, this.uint(bits));
  }

  bytes(count: number): Buffer {
    if (this.bitsLeft < count * 8) throw new Mismatch(`expected ${count} bytes, got ${this.bitsLeft} bits`);
    const { data } = this.cell;
    const [from, offset] = [this.bit >> 3, this.bit & 7];
    const bytes = Buffer.allocUnsafe(count);
    for (let at = 0; at < count; at++) {
      bytes[at] = ((data[from + at] as number) << offset) | ((data[from + at + 1] ?? 0) >> (8 - offset));
    }
    this.bit += count * 8;
    return bytes;
  }

  /** Index of the next child. */
  child(): number {
    const index = this.cell.refs[this.ref];
    if (index === undefined) throw new Mismatch('expected a reference, got none');
    this.ref++;
    return index;
  }

  /** A number of bits, as upper-case hex digits; its length must be a multiple of 4. */
  hex(bits: number): string {
    const digits = bits / 4;
    return digits === 0 ? '' : this.uint(bits).toString(16).toUpperCase().padStart(digits, '0');
  }

  /**
   * Null for no address. An external address is its bits after a colon, in hex; as in Fift, bits that do not fill the last digit are followed
   * by a one and zeros, and the digits by an underscore.
   */
  address(): string | null {
    switch (this.number(2)) {
      case 0:
        return null;
      case 1: {
        const bits = this.number(9);
        const digits = this.hex(bits & ~3);
        const last = ((this.number(bits & 3) << 1) | 1) << (3 - (bits & 3));
        return (bits & 3) === 0 ? `:${digits}` : `:${digits}${last.toString(16).toUpperCase()}_`;
      }
      case 2: {
        if (this.number(1) === 1) throw new Mismatch('expected an address, got one with anycast');
        const workchain = Number(this.int(8));
        return `${workchain}:${this.bytes(32).toString('hex').toUpperCase()}`;
      }
      default:
        throw new Mismatch('expected an address, got addr_var');
    }
  }

  /** The remaining bytes, followed by those of the chain of first children, as text. */
  snake(): string {
    const parts: Buffer[] = [];
    for (let slice: Slice | undefined = this; slice !== undefined; ) {
      if (slice.isSpecial) throw new Mismatch('expected text, got a special cell');
      if (slice.bitsLeft % 8 !== 0) throw new Mismatch(`expected whole bytes of text, got ${slice.bitsLeft} bits`);
      parts.push(slice.bytes(slice.bitsLeft / 8));
      slice = slice.refsLeft > 0 ? new Slice(this.bag, slice.child()) : undefined;
    }
    return textOf(Buffer.concat(parts));
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Text in UTF-8. A zero byte is a space, as the source has it. @throws {Mismatch} */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes).replaceAll('\0', ' ');
  } catch {
    throw new Mismatch('expected text in UTF-8');
  }
}
