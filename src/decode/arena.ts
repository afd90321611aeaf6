const BLOCK_BYTES = 1 << 20;
/** Free bytes after every piece: short copies write whole words and may exceed the value. */
const SLACK = 8;

/** Memory that is allocated in pieces and released all at once, so that repeated work needs no new memory. */
export class Arena {
  private blocks: ArrayBuffer[] = [];
  /** The current block, and its used bytes. */
  private at = 0;
  private used = 0;

  /** A piece aligned to 8 bytes, with undefined content. */
  take(bytes: number): Uint8Array {
    const size = (bytes + SLACK + 7) & ~7;
    let block = this.blocks[this.at];
    while (block !== undefined && this.used + size > block.byteLength) {
      this.used = 0;
      block = this.blocks[++this.at];
    }
    if (block === undefined) {
      block = new ArrayBuffer(Math.max(BLOCK_BYTES, size));
      this.blocks[this.at] = block;
    }
    const piece = new Uint8Array(block, this.used, bytes);
    this.used += size;
    return piece;
  }

  words(count: number): Uint32Array {
    const { buffer, byteOffset } = this.take(count * 4);
    return new Uint32Array(buffer, byteOffset, count);
  }

  ints(count: number): Int32Array {
    const { buffer, byteOffset } = this.take(count * 4);
    return new Int32Array(buffer, byteOffset, count);
  }

  /** Releases all pieces, except memory that was transferred to another thread. */
  reset(): void {
    if (this.blocks.some((block) => block.byteLength === 0)) {
      this.blocks = this.blocks.filter((block) => block.byteLength > 0);
    }
    this.at = 0;
    this.used = 0;
  }

  /** Adds memory that returns from another thread. */
  giveBack(memory: readonly ArrayBuffer[]): void {
    this.blocks.push(...memory);
  }

  /** Total size in bytes. */
  get byteSize(): number {
    return this.blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }
}
