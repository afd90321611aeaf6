// AssemblyScript: bags of cells, and their hashes.

import { readBag } from './cells/boc';
import {
  bitsOf,
  cellAt,
  cellCount,
  contentOf,
  depthOf,
  hashPending,
  placeCells,
  refCountOf,
  refOf,
} from './cells/cell-table';
import { sha256Init } from './cells/sha256';

export { bitsOf, cellAt, contentOf, depthOf, hashPending, readBag, refCountOf, refOf };

sha256Init();

/** First byte of the memory that the caller may use: a multiple of 64. */
export function start(): usize {
  return (__heap_base + 63) & ~63;
}

/** Drops all cells, and lets those to come use the memory from `at` on, a multiple of 64. */
export function begin(at: usize): void {
  placeCells(at);
}

/** Number of cells read so far. */
export function count(): u32 {
  return cellCount;
}
