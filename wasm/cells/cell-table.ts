// The cells of a batch: each is an entry of 64 bytes in one table, and is named by its index. Entries whose hash is not known wait in lists
// by depth and number of SHA-256 blocks. `hashPending` walks the depths upwards, so that children come first, and within a depth hashes four
// cells of nearly equal work at once.

import { sha256, sha256x4 } from './sha256';

/** Maximum depth of a cell that is read; messages, their dictionary and the transaction come on top. */
export const MAX_DEPTH: u32 = 1024;
const DEPTHS: usize = 1024 + 64;
/** 2 descriptor bytes, 128 of data, 4 x 34 of children, and the padding of SHA-256. */
const MAX_BLOCKS: usize = 5;
/** The index of no cell. */
export const NONE: u32 = 0xffffffff;
/** Maximum number of entries, 256 MB: the messages of a transaction have up to 256 times 8,192 cells. */
export const MAX_CELLS: u32 = 1 << 22;

// Fields of an entry: its hash; the indexes of four children; the address of its two descriptor bytes, with the data after them; the next
// entry of the same list; depth and number of bits, 16 bits each; number of children and of blocks, 8 bits each.
const REFS: usize = 32;
const DATA: usize = 48;
const NEXT: usize = 52;
const DEPTH: usize = 56;
const BITS: usize = 58;
const REF_COUNT: usize = 60;
const BLOCKS: usize = 61;

let table: usize = 0;
/** Number of entries in use. */
export let cellCount: u32 = 0;
/** True if there was no room for an entry since `placeCells`. */
export let isFull: bool = false;

/** Heads of the lists: index + 1, or 0. */
const heads: usize = memory.data(1088 * 5 * 4, 16);
/** Greatest depth of an entry that waits. */
let deepest: i32 = -1;

const LANE: usize = 448;
const lanes: usize = memory.data(4 * 448, 16);

/** Drops all cells, and places the table at `at`, a multiple of 64, after everything else in memory. It grows with its entries. */
export function placeCells(at: usize): void {
  table = at;
  cellCount = 0;
  isFull = false;
}

/** Drops all entries from `count` on; none of them may wait for its hash. */
export function dropCells(count: u32): void {
  cellCount = count;
}

/** Makes the memory before an address usable. False if there is not that much. */
export function growTo(end: usize): bool {
  const lack = <i64>end - ((<i64>memory.size()) << 16);
  // Growing is slow, and unused pages take no memory: double the size, by at most 64 MB.
  return lack <= 0 || memory.grow(max(min(memory.size(), 1024), <i32>((lack + 0xffff) >> 16))) >= 0;
}

/** Reserves `count` entries in a row. Returns NONE if there is no room for them. */
export function reserveCells(count: u32): u32 {
  if (count > MAX_CELLS - cellCount || !growTo(table + ((<usize>(cellCount + count)) << 6))) {
    isFull = true;
    return NONE;
  }
  const first = cellCount;
  cellCount += count;
  return first;
}

/** Address of an entry, and so of its hash. */
export function cellAt(index: u32): usize {
  return table + ((<usize>index) << 6);
}
export function refOf(cell: usize, k: u32): u32 {
  return load<u32>(cell + (k << 2), REFS);
}
export function setRef(cell: usize, k: u32, index: u32): void {
  store<u32>(cell + (k << 2), index, REFS);
}
export function refCountOf(cell: usize): u32 {
  return load<u8>(cell, REF_COUNT);
}
export function bitsOf(cell: usize): u32 {
  return load<u16>(cell, BITS);
}
export function depthOf(cell: usize): u32 {
  return load<u16>(cell, DEPTH);
}
export function setDepth(cell: usize, depth: u32): void {
  store<u16>(cell, <u16>depth, DEPTH);
}
/** Address of the descriptor bytes. */
export function contentOf(cell: usize): usize {
  return load<u32>(cell, DATA);
}
export function setContent(cell: usize, address: usize): void {
  store<u32>(cell, <u32>address, DATA);
}
/** The next entry of the same list, plus one; or what the entry has instead while it waits for nothing. */
export function nextOf(cell: usize): u32 {
  return load<u32>(cell, NEXT);
}
export function setNext(cell: usize, next: u32): void {
  store<u32>(cell, next, NEXT);
}
export function setShape(cell: usize, bits: u32, refs: u32): void {
  store<u16>(cell, <u16>bits, BITS);
  store<u8>(cell, <u8>refs, REF_COUNT);
}

/** One more than the depth of the deepest child. */
export function depthAbove(cell: usize): u32 {
  let depth: u32 = 0;
  const refs = refCountOf(cell);
  for (let k: u32 = 0; k < refs; k++) depth = max(depth, depthOf(cellAt(refOf(cell, k))) + 1);
  return depth;
}

/** Lets an entry wait for its hash; content, shape, children and depth are set. */
export function awaitHash(index: u32): void {
  const cell = cellAt(index);
  const blocks = (2 + ((bitsOf(cell) + 7) >> 3) + refCountOf(cell) * 34 + 72) >> 6;
  const depth = depthOf(cell);
  const head = heads + ((<usize>depth * MAX_BLOCKS + <usize>blocks - 1) << 2);
  store<u8>(cell, <u8>blocks, BLOCKS);
  store<u32>(cell, load<u32>(head), NEXT);
  store<u32>(head, index + 1);
  deepest = max(deepest, <i32>depth);
}

/** Writes the padded representation of a cell: descriptors, data, depths and hashes of its children. */
function stage(cell: usize, to: usize): void {
  const size: usize = 2 + ((<usize>bitsOf(cell) + 7) >> 3);
  const from = contentOf(cell);
  // Copies in whole steps: bytes beyond the cell are overwritten below.
  for (let i: usize = 0; i < size; i += 16) v128.store(to + i, v128.load(from + i));
  const refs = refCountOf(cell);
  let at = to + size;
  for (let k: u32 = 0; k < refs; k++, at += 2) store<u16>(at, bswap(<u16>depthOf(cellAt(refOf(cell, k)))));
  for (let k: u32 = 0; k < refs; k++, at += 32) {
    const child = cellAt(refOf(cell, k));
    v128.store(at, v128.load(child));
    v128.store(at, v128.load(child, 16), 16);
  }
  const zero = i32x4.splat(0);
  v128.store(at, zero);
  v128.store(at, zero, 16);
  v128.store(at, zero, 32);
  v128.store(at, zero, 48);
  v128.store(at, zero, 64);
  store<u8>(at, 0x80);
  store<u32>(to + ((<usize>load<u8>(cell, BLOCKS)) << 6) - 4, bswap((<u32>(at - to)) << 3));
}

/** Cells of the group that is being filled. */
const group: usize = memory.data(16, 16);

/** Hashes all cells that wait. */
export function hashPending(): void {
  let filled: usize = 0;
  for (let depth = 0; depth <= deepest; depth++) {
    for (let blocks: usize = 0; blocks < MAX_BLOCKS; blocks++) {
      const head = heads + ((<usize>depth * MAX_BLOCKS + blocks) << 2);
      let link = load<u32>(head);
      store<u32>(head, 0);
      while (link != 0) {
        const cell = cellAt(link - 1);
        link = load<u32>(cell, NEXT);
        stage(cell, lanes + filled * LANE);
        store<u32>(group + (filled << 2), <u32>cell);
        if (++filled == 4) {
          hashGroup(4);
          filled = 0;
        }
      }
    }
    // Cells of the next depth may need these hashes.
    if (filled > 0) hashGroup(filled);
    filled = 0;
  }
  deepest = -1;
}

function hashGroup(filled: usize): void {
  const c0: usize = load<u32>(group);
  const n0 = <i32>load<u8>(c0, BLOCKS);
  // The scalar way is cheaper for a single cell.
  if (filled == 1) {
    sha256(lanes, n0, c0);
    return;
  }
  const c1: usize = load<u32>(group, 4);
  const c2 = filled > 2 ? <usize>load<u32>(group, 8) : c0;
  const c3 = filled > 3 ? <usize>load<u32>(group, 12) : c0;
  const n1 = <i32>load<u8>(c1, BLOCKS);
  const n2 = filled > 2 ? <i32>load<u8>(c2, BLOCKS) : 0;
  const n3 = filled > 3 ? <i32>load<u8>(c3, BLOCKS) : 0;
  sha256x4(lanes, lanes + LANE, lanes + 2 * LANE, lanes + 3 * LANE, n0, n1, n2, n3, c0, c1, c2, c3);
}

/** Empties the lists of cells that wait; for a batch that was given up. */
export function forgetPending(): void {
  memory.fill(heads, 0, DEPTHS * MAX_BLOCKS * 4);
  deepest = -1;
}
