const BLOCK_BYTES = 1 << 20;
/** Free bytes after every piece: short copies write whole words and may exceed the value. */
const SLACK = 8;

/** Memory that is allocated in pieces and released all at once, so that repeated work needs no new memory. */
export class Arena {
  /** Blocks with pieces. The last one may have space for more, after `used` bytes. */
  private taken: ArrayBuffer[] = [];
  private used = 0;
  /** Blocks without pieces. */
  private free: ArrayBuffer[] = [];

  /** A piece aligned to 8 bytes, with undefined content. */
  take(bytes: number): Uint8Array {
    const size = (bytes + SLACK + 7) & ~7;
    let block = this.taken.at(-1);
    if (block === undefined || this.used + size > block.byteLength) {
      block = this.takeBlock(size);
      this.taken.push(block);
      this.used = 0;
    }
    const piece = new Uint8Array(block, this.used, bytes);
    this.used += size;
    return piece;
  }

  /** Releases all pieces. */
  reset(): void {
    this.free.push(...this.taken);
    this.taken.length = 0;
    this.used = 0;
  }

  /** Total size in bytes. */
  get byteSize(): number {
    return [...this.taken, ...this.free].reduce((sum, block) => sum + block.byteLength, 0);
  }

  /** The smallest free block with enough space. A new block replaces the largest one that is too small; otherwise free blocks would accumulate. */
  private takeBlock(size: number): ArrayBuffer {
    let best = -1;
    let largest = -1;
    for (let at = 0; at < this.free.length; at++) {
      const { byteLength } = this.free[at] as ArrayBuffer;
      if (byteLength >= size && byteLength < (this.free[best]?.byteLength ?? Number.POSITIVE_INFINITY)) best = at;
      if (byteLength > (this.free[largest]?.byteLength ?? BLOCK_BYTES)) largest = at;
    }
    const [block] = this.free.splice(best < 0 ? largest : best, best < 0 && largest < 0 ? 0 : 1);
    return best < 0 || block === undefined ? new ArrayBuffer(Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES) : block;
  }
}
