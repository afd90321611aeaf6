import type { TagCodec } from '../chain/tag.ts';

const HEX = '0123456789ABCDEF';

/** Bytes of an answer under construction. */
export class PageWriter {
  readonly #codec: TagCodec;
  #bytes: Buffer;
  #length = 0;

  constructor(codec: TagCodec, capacity = 1 << 16) {
    this.#codec = codec;
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes so far; valid until the writer is used again. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties it for another answer. */
  clear(): void {
    this.#length = 0;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const bigger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(bigger, 0, 0, this.#length);
    this.#bytes = bigger;
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  text(value: string): void {
    this.#room(value.length * 3);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  /** A whole number from 0 to 2^53 - 1. */
  uint(value: number): void {
    this.#room(17);
    let digits = 1;
    for (let bound = 10; value >= bound; bound *= 10) digits += 1;
    let at = this.#length + digits;
    this.#length = at;
    let rest = value;
    while (rest >= 1e9) {
      const high = Math.floor(rest / 1e8);
      let low = rest - high * 1e8;
      for (let count = 0; count < 8; count += 1) {
        const tenth = (low / 10) | 0;
        at -= 1;
        this.#bytes[at] = 48 + low - tenth * 10;
        low = tenth;
      }
      rest = high;
    }
    do {
      const tenth = (rest / 10) | 0;
      at -= 1;
      this.#bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    } while (rest > 0);
  }

  /** The first 16 characters of a hash. */
  tag(family: number, kind: number, id: number, epoch: number): void {
    this.#room(16);
    this.#codec.write(this.#bytes, this.#length, family, kind, id, epoch);
    this.#length += 16;
  }

  /** The 24 hex digits of a tag, as account ids carry it. */
  hexTag(family: number, kind: number, id: number, epoch: number): void {
    this.#room(24);
    const bytes = this.#codec.bytes(family, kind, id, epoch);
    for (const byte of bytes) {
      this.#bytes[this.#length] = HEX.charCodeAt(byte >> 4);
      this.#bytes[this.#length + 1] = HEX.charCodeAt(byte & 15);
      this.#length += 2;
    }
  }
}
