import { type AnyModule, openModule } from '../core/web-assembly.ts';

/** The exports of `wasm/kernel.ts`; numbers are addresses unless their names say otherwise. */
export interface KernelExports extends AnyModule {
  setLimit(bytes: number): void;
  newTable(parent: number): number;
  addColumn(table: number, width: number): number;
  setTable(table: number, required: number, hasPlace: number): number;
  newNode(table: number, pointer: number, length: number, isStored: number): number;
  newKey(node: number, number: number, text: number, length: number): number;
  setKey(key: number, op: number, inner: number, required: number, node: number, table: number): void;
  setColumns(key: number, bytes: number, numbers: number, flags: number, raw: number): void;
  setBounds(key: number, minLow: bigint, minHigh: bigint, maxLow: bigint, maxHigh: bigint): void;
  setLabel(key: number, text: number, length: number): void;
  sortBy(table: number, column: number, isParents: number): void;
  newList(): number;
  addToList(list: number, column: number): void;
  roomFor(length: number): number;
  load(length: number, shape: number): number;
  scan(envelope: number, root: number): number;
  brokenAt(): number;
  recordCount(): number;
  refusedCount(): number;
  refusedAt(index: number): number;
  refusedTexts(): number;
  unknownCount(): number;
  unknownAt(index: number): number;
  unknownNames(): number;
  rowsIn(table: number): number;
  truncateRows(table: number, rows: number): void;
  clearRows(table: number): void;
  bytesIn(table: number): number;
  extraOf(table: number): number;
  parentRowsOf(table: number): number;
  nestedStarts(table: number): number;
  fillText(column: number, from: number, to: number, text: number, length: number): void;
  fillNumber(column: number, from: number, to: number, low: bigint, high: bigint): void;
  roomForRows(count: number): number;
  sort(table: number, rows: number, count: number): void;
  nestedIn(table: number, rows: number, count: number): number;
  nestedRows(): number;
  parentsIn(table: number, rows: number, count: number): number;
  matchingIn(list: number, rows: number, count: number): number;
  matchingRows(): number;
  gather(column: number, rows: number, count: number): number;
  gatherTimes(column: number, rows: number, count: number, areDates: number): number;
}

/** An instance of the kernel. Growing its memory detaches earlier views, so views are recreated for each use. */
export class Kernel {
  readonly calls = openModule<KernelExports>('kernel');
  private known = Buffer.alloc(0);
  private knownWords = new Uint32Array(0);

  /** The memory, as bytes. */
  get bytes(): Buffer {
    this.refresh();
    return this.known;
  }

  /** The memory, as words of 32 bits. */
  get words(): Uint32Array {
    this.refresh();
    return this.knownWords;
  }

  /** Size of the memory in bytes. */
  get size(): number {
    return this.calls.memory.buffer.byteLength;
  }

  /** The words of a structure of `wasm/kernel`. */
  struct(address: number): Uint32Array {
    return this.words.subarray(address >> 2, (address >> 2) + 10);
  }

  /** Copies bytes to the input buffer of the kernel. @returns the address */
  give(bytes: Uint8Array): number {
    const at = this.calls.roomFor(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }

  text(from: number, length: number): string {
    return this.bytes.toString('utf8', from, from + length);
  }

  private refresh(): void {
    const { buffer } = this.calls.memory;
    if (this.known.buffer === buffer) return;
    this.known = Buffer.from(buffer);
    this.knownWords = new Uint32Array(buffer);
  }
}
