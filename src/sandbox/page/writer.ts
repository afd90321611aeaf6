import type { TagCodec } from '../chain/tag.ts';

/** A buffer in which a response is built. */
export class PageWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** The bytes so far; valid until the writer is used again. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Empties the buffer for another response. */
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

  /** An integer from 0 to 2^53 - 1; faster than `String`, which a page with thousands of numbers needs. */
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
  tag(codec: TagCodec, family: number, kind: number, id: number, epoch: number): void {
    this.#room(16);
    codec.write(this.#bytes, this.#length, family, kind, id, epoch);
    this.#length += 16;
  }
}
