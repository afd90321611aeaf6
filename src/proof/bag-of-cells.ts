import { type Module, memoryOf, openModule } from '../core/web-assembly.ts';

/** A cell of a bag. */
export interface Cell {
  /** Number of data bits, 0 to 1023. */
  readonly bits: number;
  /** The data: the first bit is the highest of the first byte; bits after the last one are 0. */
  readonly data: Uint8Array;
  /** Indexes of its children in `cells`, at most 4; each is greater than the cell's own. */
  readonly refs: readonly number[];
  /**
   * The first descriptor byte without the number of references: 8 for a special cell (pruned branch, library, Merkle proof or update), and
   * from 32 on a bit for each level at which it has pruned branches.
   */
  readonly flags: number;
  /** Representation hash, 32 bytes: that of the highest level. */
  readonly hash: Uint8Array;
  readonly depth: number;
}

/** A bag of cells with one root. */
export interface Bag {
  /** Index of the root in `cells`. */
  readonly root: number;
  readonly cells: readonly Cell[];
}

/** The flag of special cells in `Cell.flags`. */
export const SPECIAL = 8;

/** Why a bag cannot be read. The order is that of the codes in `wasm/cells/boc.ts`. */
export const bagFaults = [
  'header',
  'roots',
  'cell',
  'order',
  'exotic-cell',
  'too-deep',
  'too-large',
  'checksum',
] as const;
export type BagFault = (typeof bagFaults)[number];

/** Maximum size of a bag, in bytes. */
const MAX_BYTES = 16 * 2 ** 20;
/** `wasm/cells` may load this many bytes after a bag. */
const SLACK = 64;

/** The exports of `wasm/proof.ts` for a single bag. */
interface BagReader extends Module {
  begin(at: number): void;
  readBag(at: number, size: number): number;
  count(): number;
  hashPending(): void;
  cellAt(index: number): number;
  bitsOf(cell: number): number;
  depthOf(cell: number): number;
  contentOf(cell: number): number;
  refCountOf(cell: number): number;
  refOf(cell: number, k: number): number;
}

let loaded: BagReader | undefined;

/**
 * Reads a bag of cells (BOC) and hashes its cells. `cells[root].hash` is the hash that the API gives for a body, a StateInit, code or data.
 *
 * Time and memory are linear in the size, however the cells refer to each other: at most 16 MB, 1,048,576 cells, and depth 1,024. Special
 * cells are read as what they are: a pruned branch has no children.
 *
 * @example
 * const bag = readBag(body);
 * if (typeof bag === 'string') return bag; // why it cannot be read, such as 'header'
 * const { bits, data, refs } = bag.cells[bag.root];
 */
export function readBag(bytes: Uint8Array): Bag | BagFault {
  if (bytes.length > MAX_BYTES) return 'too-large';
  loaded ??= openModule<BagReader>('proof');
  const reader = loaded;
  const at = reader.start();
  const end = (at + bytes.length + SLACK) & ~63;
  new Uint8Array(memoryOf(reader, end)).set(bytes, at);
  reader.begin(end);
  const root = reader.readBag(at, bytes.length);
  if (root < 0) return bagFaults[-root - 1] as BagFault;
  reader.hashPending();
  const memory = new Uint8Array(reader.memory.buffer);
  const cells: Cell[] = [];
  for (let index = 0; index < reader.count(); index++) cells.push(cellAt(reader, memory, index));
  return { root, cells };
}

function cellAt(reader: BagReader, memory: Uint8Array, index: number): Cell {
  const at = reader.cellAt(index);
  const bits = reader.bitsOf(at);
  const content = reader.contentOf(at);
  const flags = (memory[content] as number) & 0xf8;
  const data = memory.slice(content + 2, content + 2 + ((bits + 7) >> 3));
  // The last byte may end in the completion tag.
  if ((bits & 7) > 0) data[bits >> 3] = (data[bits >> 3] as number) & (0xff00 >> (bits & 7));
  const refs: number[] = [];
  for (let k = 0; k < reader.refCountOf(at); k++) refs.push(reader.refOf(at, k));
  return { bits, data, refs, flags, hash: memory.slice(at, at + 32), depth: reader.depthOf(at) };
}
