/** Memory of the kernel: blocks that grow, and a bound on all of them together. */

let used: usize = 0;
let limit: usize = 1 << 31;

/** Sets the bytes that all blocks together may take. */
export function setLimit(bytes: usize): void {
  limit = bytes;
}

/** A block of undefined content. Traps above the limit, after which the instance is of no more use. */
export function take(bytes: usize): usize {
  return resize(0, 0, bytes);
}

/** A block of zeros. */
export function takeZeros(bytes: usize): usize {
  const at = take(bytes);
  memory.fill(at, 0, bytes);
  return at;
}

/** Gives a block another size; it may move. `at` is 0 for a new one. */
export function resize(at: usize, from: usize, to: usize): usize {
  used += to - from;
  if (used > limit) unreachable();
  return at == 0 ? heap.alloc(to) : heap.realloc(at, to);
}

export function release(at: usize, bytes: usize): void {
  used -= bytes;
  heap.free(at);
}

/** A block of at least `need` bytes that is kept for the next use. */
@unmanaged
export class Block {
  at: usize;
  room: usize;
  /** Bytes used, where the content grows. */
  size: usize;
}

export function newBlock(): Block {
  return changetype<Block>(takeZeros(offsetof<Block>()));
}

/** Makes a block large enough and returns its address; the content stays. */
export function fit(block: Block, need: usize): usize {
  if (need > block.room) {
    const room = max(need, block.room * 2);
    block.at = resize(block.at, block.room, room);
    block.room = room;
  }
  return block.at;
}

/** Reserves `bytes` after the used part. */
export function push(block: Block, bytes: usize): usize {
  const at = fit(block, block.size + bytes) + block.size;
  block.size += bytes;
  return at;
}

/** Returns the memory of a block, and the block. */
export function dropBlock(block: Block): void {
  if (block.room > 0) release(block.at, block.room);
  release(changetype<usize>(block), offsetof<Block>());
}
