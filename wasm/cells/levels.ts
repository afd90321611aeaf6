// Hashes of bags with special cells. A pruned branch stands for a cell that was cut off: it has the hash and the depth of that cell at lower
// levels. A cell above it has a hash and a depth per level; a Merkle proof or update takes those of its children one level higher.
// https://github.com/ton-blockchain/ton/blob/master/crypto/vm/cells/DataCell.cpp

import {
  bitsOf,
  cellAt,
  contentOf,
  depthOf,
  MAX_DEPTH,
  NONE,
  nextOf,
  refCountOf,
  refOf,
  reserveCells,
  setDepth,
  setNext,
} from './cell-table';
import { sha256 } from './sha256';

const ORDINARY: u32 = 0;
const PRUNED: u32 = 1;
const LIBRARY: u32 = 2;
const MERKLE_PROOF: u32 = 3;
const MERKLE_UPDATE: u32 = 4;
const MALFORMED: u32 = 255;

/** Bytes of the hashes of a cell at lower levels, before their depths: at most three. */
const LOWER_HASHES: usize = 96;
/** Entries that hashes and depths at lower levels take. */
const LOWER_ENTRIES: u32 = 2;
/** Of the messages that are hashed: at most 5 blocks, and what is copied beyond. */
const staged: usize = memory.data(448, 16);

/** What can come of it. */
export enum Levels {
  sound = 0,
  malformed = 1,
  tooDeep = 2,
  tooLarge = 3,
}

/** One bit for each level at which a cell has pruned branches below it, or is one: its descriptor has them. */
export function levelsOf(cell: usize): u32 {
  return <u32>load<u8>(contentOf(cell)) >> 5;
}

/** Bits of the levels below one. */
function below(levels: u32, level: u32): u32 {
  return levels & (((<u32>1) << level) - 1);
}

function typeOf(cell: usize): u32 {
  const content = contentOf(cell);
  if ((load<u8>(content) & 8) == 0) return ORDINARY;
  const bits = bitsOf(cell);
  const refs = refCountOf(cell);
  const type = bits < 8 ? MALFORMED : <u32>load<u8>(content, 2);
  if (type == PRUNED) {
    const levels = bits < 16 ? 0 : <u32>load<u8>(content, 3);
    const isSound = levels > 0 && levels < 8 && refs == 0 && bits == 16 + <u32>popcnt(levels) * 272;
    return isSound ? PRUNED : MALFORMED;
  }
  const isSound =
    (type == LIBRARY && bits == 264 && refs == 0) ||
    (type == MERKLE_PROOF && bits == 280 && refs == 1) ||
    (type == MERKLE_UPDATE && bits == 552 && refs == 2);
  return isSound ? type : MALFORMED;
}

/** Address of the hash of a cell at a level; its own, which has all levels, at the highest. */
function hashAt(cell: usize, level: u32): usize {
  const levels = levelsOf(cell);
  const lower = below(levels, level);
  if (lower == levels) return cell;
  return lowerOf(cell) + ((<usize>popcnt(lower)) << 5);
}
function depthAt(cell: usize, level: u32): u32 {
  const levels = levelsOf(cell);
  const lower = below(levels, level);
  if (lower == levels) return depthOf(cell);
  const hashes = typeOf(cell) == PRUNED ? (<usize>popcnt(levels)) << 5 : LOWER_HASHES;
  return bswap(load<u16>(lowerOf(cell) + hashes + ((<usize>popcnt(lower)) << 1)));
}
/** Where the hashes and depths of a cell at lower levels are, big-endian. */
function lowerOf(cell: usize): usize {
  return typeOf(cell) == PRUNED ? contentOf(cell) + 4 : cellAt(nextOf(cell));
}

/** Hashes the cells of a bag, children first. Takes entries of the table that the caller may drop afterwards. */
export function hashLevels(first: u32, count: u32): Levels {
  for (let i = count; i-- > 0; ) {
    const outcome = hashCell(cellAt(first + i));
    if (outcome != Levels.sound) return outcome;
  }
  return Levels.sound;
}

function hashCell(cell: usize): Levels {
  const type = typeOf(cell);
  const levels = levelsOf(cell);
  if (type == MALFORMED || levels != levelsBelow(cell, type)) return Levels.malformed;
  let lower: usize = 0;
  if (levels > 0 && type != PRUNED) {
    const entries = reserveCells(LOWER_ENTRIES);
    if (entries == NONE) return Levels.tooLarge;
    setNext(cell, entries);
    lower = cellAt(entries);
  }
  const shift: u32 = type == MERKLE_PROOF || type == MERKLE_UPDATE ? 1 : 0;
  const top: u32 = 32 - clz(levels);
  let before: usize = 0;
  for (let level: u32 = type == PRUNED ? top : 0; level <= top; level++) {
    if (level > 0 && ((levels >> (level - 1)) & 1) == 0) continue;
    const depth = depthAboveAt(cell, level + shift);
    if (depth > MAX_DEPTH) return Levels.tooDeep;
    const place = popcnt(below(levels, level));
    const to = level == top ? cell : lower + ((<usize>place) << 5);
    sha256(staged, stage(cell, level, shift, before), to);
    if (level == top) setDepth(cell, depth);
    else store<u16>(lower + LOWER_HASHES + ((<usize>place) << 1), bswap(<u16>depth));
    before = to;
  }
  if (type == PRUNED) return hasSoundDepths(cell, <u32>popcnt(levels)) ? Levels.sound : Levels.tooDeep;
  return shift == 0 || hasChildren(cell) ? Levels.sound : Levels.malformed;
}

/** The levels that a cell has because of its type and its children. */
function levelsBelow(cell: usize, type: u32): u32 {
  if (type == PRUNED) return load<u8>(contentOf(cell), 3);
  let levels: u32 = 0;
  for (let k: u32 = 0; k < refCountOf(cell); k++) levels |= levelsOf(cellAt(refOf(cell, k)));
  return type == ORDINARY ? levels : levels >> 1;
}

/** One more than the depth of the deepest child at a level. */
function depthAboveAt(cell: usize, level: u32): u32 {
  let depth: u32 = 0;
  for (let k: u32 = 0; k < refCountOf(cell); k++) depth = max(depth, depthAt(cellAt(refOf(cell, k)), level) + 1);
  return depth;
}

function hasSoundDepths(pruned: usize, count: u32): bool {
  for (let k: u32 = 0; k < count; k++) {
    const at = contentOf(pruned) + 4 + ((<usize>count) << 5) + ((<usize>k) << 1);
    if (<u32>bswap(load<u16>(at)) > MAX_DEPTH) return false;
  }
  return true;
}

/** True if a Merkle proof or update has the hashes and depths of its children. */
function hasChildren(merkle: usize): bool {
  const count = <usize>refCountOf(merkle);
  const hashes = contentOf(merkle) + 3;
  for (let k: u32 = 0; k < <u32>count; k++) {
    const child = cellAt(refOf(merkle, k));
    if (memory.compare(hashes + ((<usize>k) << 5), hashAt(child, 0), 32) != 0) return false;
    const depth = bswap(load<u16>(hashes + (count << 5) + ((<usize>k) << 1)));
    if (<u32>depth != depthAt(child, 0)) return false;
  }
  return true;
}

/**
 * Writes the padded representation of a cell at a level: descriptors, data, or its hash at the level below, depths and hashes of its
 * children. Returns the number of blocks.
 *
 * @param before address of the hash at the level below; 0 at the first
 */
function stage(cell: usize, level: u32, shift: u32, before: usize): i32 {
  const content = contentOf(cell);
  const flags = load<u8>(content) & 0x1f;
  memory.fill(staged, 0, 448);
  store<u8>(staged, <u8>(flags | (below(levelsOf(cell), level) << 5)));
  store<u8>(staged, load<u8>(content, 1), 1);
  let at = staged + 2;
  const size = before == 0 ? (<usize>bitsOf(cell) + 7) >> 3 : 32;
  memory.copy(at, before == 0 ? content + 2 : before, size);
  at += size;
  const refs = refCountOf(cell);
  for (let k: u32 = 0; k < refs; k++, at += 2)
    store<u16>(at, bswap(<u16>depthAt(cellAt(refOf(cell, k)), level + shift)));
  for (let k: u32 = 0; k < refs; k++, at += 32) memory.copy(at, hashAt(cellAt(refOf(cell, k)), level + shift), 32);
  store<u8>(at, 0x80);
  const length = <u32>(at - staged);
  const blocks = (length + 72) >> 6;
  store<u32>(staged + ((<usize>blocks) << 6) - 4, bswap(length << 3));
  return <i32>blocks;
}
