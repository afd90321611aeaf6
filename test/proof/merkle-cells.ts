import { createHash } from 'node:crypto';
import { type RawCell, rawBag } from './raw-bag.ts';

/** A cell as it is hashed. */
interface Content {
  /** 8 for a special cell. */
  readonly flags: number;
  readonly bits: number;
  /** The first bit is the highest of the first byte. */
  readonly data: Uint8Array;
}

/** Hashes and depths of a cell at the levels 0 to 3, as the node defines them; and the levels at which they differ, one bit each. */
export interface Levels {
  readonly mask: number;
  readonly hashes: readonly Buffer[];
  readonly depths: readonly number[];
}

/** The node's definition, by level: crypto/vm/cells/DataCell.cpp. */
export function levelsOf({ flags, bits, data }: Content, refs: readonly Levels[]): Levels {
  const type = (flags & 8) === 0 ? 0 : (data[0] as number);
  const own = refs.reduce((all, { mask }) => all | mask, 0);
  const mask = type === 1 ? (data[1] as number) : type === 0 ? own : own >> 1;
  const shift = type === 3 || type === 4 ? 1 : 0;
  const hashes: Buffer[] = [];
  const depths: number[] = [];
  const stored = Array.from({ length: 3 }, (_, bit) => bit).filter((bit) => ((mask >> bit) & 1) === 1).length;
  let index = 0;
  for (let level = 0; level <= 3; level++) {
    const isSignificant = level === 0 || ((mask >> (level - 1)) & 1) === 1;
    if (!isSignificant) {
      hashes.push(hashes[level - 1] as Buffer);
      depths.push(depths[level - 1] as number);
      continue;
    }
    if (type === 1 && index < stored) {
      hashes.push(Buffer.from(data.subarray(2 + 32 * index, 34 + 32 * index)));
      depths.push(Buffer.from(data).readUInt16BE(2 + 32 * stored + 2 * index));
      index++;
      continue;
    }
    const padded = Buffer.from(data);
    if ((bits & 7) > 0) padded[bits >> 3] = (padded[bits >> 3] as number) | (0x80 >> (bits & 7));
    const head = [
      refs.length | (flags & 8) | ((mask & ((1 << level) - 1)) << 5),
      Math.floor(bits / 8) + Math.ceil(bits / 8),
    ];
    const below = refs.map((ref) =>
      Buffer.from([0, 0].map((_, at) => ((ref.depths[Math.min(level + shift, 3)] as number) >> (8 - 8 * at)) & 255)),
    );
    const parts = [
      Buffer.from(head),
      level > 0 && type !== 1 ? (hashes[level - 1] as Buffer) : padded,
      ...below,
      ...refs.map((ref) => ref.hashes[Math.min(level + shift, 3)] as Buffer),
    ];
    hashes.push(createHash('sha256').update(Buffer.concat(parts)).digest());
    depths.push(Math.max(-1, ...refs.map((ref) => ref.depths[Math.min(level + shift, 3)] as number)) + 1);
  }
  return { mask, hashes, depths };
}

/** A cell of whole bytes. */
export interface Tree extends Levels {
  readonly flags: number;
  readonly data: Buffer;
  readonly refs: readonly Tree[];
}

export function cellOf(data: Buffer, refs: readonly Tree[], flags = 0): Tree {
  return { data, refs, flags, ...levelsOf({ flags, data, bits: data.length * 8 }, refs) };
}

const depthOf = (depth: number): Buffer => Buffer.from([depth >> 8, depth & 255]);

/** The pruned branch that stands for a cell at a level, which is higher than its own levels. */
export function prunedOf(cell: Tree, level: number): Tree {
  const mask = cell.mask | (1 << (level - 1));
  const levels = [0, 1, 2, 3].filter((at) => at < level && (at === 0 || ((cell.mask >> (at - 1)) & 1) === 1));
  const hashes = levels.map((at) => cell.hashes[at] as Buffer);
  const depths = levels.map((at) => depthOf(cell.depths[at] as number));
  return cellOf(Buffer.concat([Buffer.from([1, mask]), ...hashes, ...depths]), [], 8);
}

/** A Merkle proof of a cell, or a Merkle update of two. */
export function merkleOf(...cells: readonly Tree[]): Tree {
  const hashes = cells.map(({ hashes: [hash] }) => hash as Buffer);
  const depths = cells.map(({ depths: [depth] }) => depthOf(depth as number));
  return cellOf(Buffer.concat([Buffer.from([2 + cells.length]), ...hashes, ...depths]), cells, 8);
}

export function bagOf(root: Tree): Buffer {
  const cells: Tree[] = [];
  const visit = (cell: Tree): number => {
    for (const child of [...cell.refs].reverse()) visit(child);
    return cells.push(cell);
  };
  visit(root);
  cells.reverse();
  const places = new Map(cells.map((cell, at) => [cell, at]));
  const raw = cells.map(
    ({ data, refs, flags, mask }): RawCell => ({
      data: data.toString('hex'),
      refs: refs.map((ref) => places.get(ref) as number),
      type: flags | (mask << 5),
    }),
  );
  return rawBag(raw);
}
