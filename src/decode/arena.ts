const BLOCK_BYTES = 1 << 20;
/** Bytes kept free behind every piece: short copies go by whole words and may write a little too much. */
const SLACK = 8;

/** Memory that is handed out in pieces and taken back all at once, so that work that repeats needs no new memory. */
export class Arena {
  private blocks: ArrayBuffer[] = [];
  /** The block that pieces come from, and how much of it is handed out. */
  private at = 0;
  private used = 0;

  /** A piece that begins at a multiple of 8 bytes. What it holds is undefined. */
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

  /** Takes back every piece, but what went over to another thread. */
  reset(): void {
    if (this.blocks.some((block) => block.byteLength === 0)) {
      this.blocks = this.blocks.filter((block) => block.byteLength > 0);
    }
    this.at = 0;
    this.used = 0;
  }

  /** Adds memory that went over to another thread and comes back. */
  giveBack(memory: readonly ArrayBuffer[]): void {
    this.blocks.push(...memory);
  }

  /** Bytes that it holds, handed out or not. */
  get byteSize(): number {
    return this.blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }
}
