import { type Module, openModule } from '../core/web-assembly.ts';

/** The exports of `wasm/proof.ts` for transactions. */
export interface Prover extends Module {
  growTo(end: number): number;
  columnsAt(): number;
  appendBits(to: number, before: number, from: number, count: number): void;
  findPiece(strings: number, validity: number, from: number, to: number): number;
  pieceSize(): number;
  linkPiece(strings: number, at: number): number;
  textAt(string: number): number;
  findParents(transactions: number, messages: number, table: number, to: number): void;
  groupMessages(parents: number, messages: number, transactions: number, starts: number, order: number): void;
  prove(from: number, to: number, starts: number, order: number, work: number, isHashed: boolean): number;
  verdictOf(row: number): number;
  rowOf(message: number): number;
  stateOf(message: number): number;
  isOpcodeWrong(message: number): number;
  opcodeOf(message: number): number;
}

/** Addresses of a column in memory. */
export interface PlacedColumn {
  readonly rows: number;
  readonly validity: number;
  /** Of texts and bytes: positions after `values`, or `STRINGS`; else 0. */
  readonly offsets: number;
  readonly values: number;
  /** Bytes of each row; 0 for bits, and for texts and bytes. */
  readonly width: number;
}

/** Instead of offsets: values are strings of a database, 16 bytes each. */
export const STRINGS = 1;

/** Numbers that describe a column. */
const DESCRIPTION = 5;
const ALIGNMENT = 16;

/** The memory of an instance of `wasm/proof.ts`. */
export class ProofMemory {
  readonly prover = openModule<Prover>('proof');
  private next = 0;

  /** Frees everything. */
  clear(columns: number): void {
    this.next = this.prover.start();
    new Uint8Array(this.prover.memory.buffer, this.prover.columnsAt(), columns * 4 * DESCRIPTION).fill(0);
  }

  /** Reserves some bytes, with slack after them. */
  reserve(bytes: number): number {
    const at = this.next;
    this.next = (at + bytes + 2 * ALIGNMENT) & -ALIGNMENT;
    if (this.prover.growTo(this.next) === 0) throw new RangeError(`expected ${this.next} bytes of memory, got less`);
    return at;
  }

  /** First byte of the memory that is free: a multiple of 64. */
  rest(): number {
    return (this.reserve(0) + 63) & ~63;
  }

  put(bytes: Uint8Array, at = this.reserve(bytes.length)): number {
    new Uint8Array(this.prover.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  words(at: number, count: number): Int32Array {
    return new Int32Array(this.prover.memory.buffer, at, count);
  }

  /** @param index position of its name in `proof-columns.ts` */
  describe(index: number, { rows, validity, offsets, values, width }: PlacedColumn): void {
    const at = this.prover.columnsAt() + index * 4 * DESCRIPTION;
    this.words(at, DESCRIPTION).set([rows, validity, offsets, values, width]);
  }
}
