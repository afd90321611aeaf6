import { type Cell, SPECIAL } from '../proof/bag-of-cells.ts';
import type { Slice } from './cell-slice.ts';

/** The rest of a slice, as a bag of cells. */
export function bagOfRest(slice: Slice): Buffer {
  const { cell, bit, ref, bag } = slice;
  if (bit === 0 && ref === 0) return writeBag(bag.cells, cell);
  const bits = cell.bits - bit;
  const left = slice.copy();
  const whole = left.bytes(bits >> 3);
  const last = bits & 7;
  const data = last === 0 ? whole : Buffer.concat([whole, Buffer.from([left.number(last) << (8 - last)])]);
  const refs = cell.refs.slice(ref);
  // What is left of a special cell is none; its levels are those of its children.
  const flags = refs.reduce((all, index) => all | ((bag.cells[index]?.flags ?? 0) & ~SPECIAL), 0);
  return writeBag(bag.cells, { ...cell, bits, data, refs, flags });
}

/** A bag of cells with the cell as its root; parents come before their children. */
export function writeBag(cells: readonly Cell[], root: Cell): Buffer {
  const found = new Set<number>();
  const open = [...root.refs];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(cells[next]?.refs ?? []));
  }
  // A child has a greater index than its parents.
  const order = [...found].sort((a, b) => a - b);
  const places = new Map(order.map((index, at) => [index, at + 1]));
  const width = order.length < 255 ? 1 : order.length < 65_535 ? 2 : 3;
  const bodies = [root, ...order.map((index) => cells[index] ?? root)].map((cell) => {
    const refs = Buffer.alloc(cell.refs.length * width);
    for (const [at, index] of cell.refs.entries()) refs.writeUIntBE(places.get(index) ?? 0, at * width, width);
    return Buffer.concat([contentOf(cell), refs]);
  });
  const content = Buffer.concat(bodies);
  const header = Buffer.alloc(6 + 4 * width + 4);
  header.writeUInt32BE(0xb5ee9c72, 0);
  header.writeUInt8(width, 4);
  header.writeUInt8(4, 5);
  header.writeUIntBE(bodies.length, 6, width);
  header.writeUIntBE(1, 6 + width, width);
  header.writeUIntBE(content.length, 6 + 3 * width, 4);
  return Buffer.concat([header, content]);
}

/** Descriptors and data, with the completion tag. */
function contentOf({ bits, data, refs, flags }: Cell): Buffer {
  const bytes = Buffer.alloc(2 + ((bits + 7) >> 3));
  bytes[0] = refs.length | flags;
  bytes[1] = (bits >> 3) + ((bits + 7) >> 3);
  bytes.set(data.subarray(0, (bits + 7) >> 3), 2);
  const last = bytes.length - 1;
  if ((bits & 7) > 0) bytes[last] = (bytes[last] as number) | (0x80 >> (bits & 7));
  return bytes;
}
