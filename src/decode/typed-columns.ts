import type { ColumnDef } from '../declare/column.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import type { Arena } from './arena.ts';
import { makeVector, type Vector } from './batch.ts';
import { copyBits } from './bits.ts';
import { bytesOf } from './bytes.ts';
import { BytesColumn } from './bytes-column.ts';
import type { ChosenRows } from './chosen-rows.ts';
import { Column, START_ROWS } from './column-buffer.ts';

export { BytesColumn };

/** Values of a fixed number of 32-bit words, little-endian. */
export class WordsColumn extends Column {
  readonly width: number;
  words: Uint32Array;

  constructor(def: ColumnDef, width: number) {
    super(def);
    this.width = width;
    this.words = new Uint32Array(START_ROWS * width);
  }

  grow(row: number): void {
    this.growValidity(row);
    const words = new Uint32Array(this.capacity * this.width);
    words.set(this.words);
    this.words = words;
  }

  put32(row: number, value: number): boolean {
    if (!this.claim(row)) return false;
    this.words[row] = value;
    return true;
  }

  put64(row: number, low: number, high: number): boolean {
    if (!this.claim(row)) return false;
    this.words[2 * row] = low;
    this.words[2 * row + 1] = high;
    return true;
  }

  /** Writes a value below 2^64. */
  put128(row: number, low: number, high: number): boolean {
    if (!this.claim(row)) return false;
    this.words[4 * row] = low;
    this.words[4 * row + 1] = high;
    this.words[4 * row + 2] = 0;
    this.words[4 * row + 3] = 0;
    return true;
  }

  /** Writes a signed value in two's complement; the caller checks that it fits. */
  putBigInt(row: number, value: bigint): boolean {
    if (!this.claim(row)) return false;
    let rest = BigInt.asUintN(this.width * 32, value);
    for (let i = 0; i < this.width; i++) {
      this.words[row * this.width + i] = Number(rest & 0xffffffffn);
      rest >>= 32n;
    }
    return true;
  }

  /** The unsigned value of a 64-bit row. */
  unsigned64(row: number): bigint {
    return (BigInt(this.words[2 * row + 1] as number) << 32n) | BigInt(this.words[2 * row] as number);
  }

  /** The signed value of a 64-bit row. */
  signed64(row: number): bigint {
    return BigInt.asIntN(64, this.unsigned64(row));
  }

  byteSize(): number {
    return this.next * this.width * 4;
  }

  gather(chosen: ChosenRows, def: ColumnDef, arena: Arena): Vector {
    const { width, words } = this;
    const { rows, runs } = chosen;
    const gathered = arena.words(rows.length * width);
    if (runs !== undefined) copyRuns(words, width, rows, runs, gathered);
    else if (width === 2) gatherPairs(words, rows, gathered);
    else {
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i] as number;
        for (let w = 0; w < width; w++) gathered[i * width + w] = words[row * width + w] as number;
      }
    }
    return makeVector(this.gatherNullity(chosen, def, arena), undefined, bytesOf(gathered));
  }
}

function copyRuns(words: Uint32Array, width: number, rows: Int32Array, runs: Int32Array, gathered: Uint32Array): void {
  for (let run = 0; run + 1 < runs.length; run++) {
    const at = runs[run] as number;
    const from = (rows[at] as number) * width;
    const count = ((runs[run + 1] as number) - at) * width;
    gathered.set(words.subarray(from, from + count), at * width);
  }
}

/** One bit per row. */
export class BoolColumn extends Column {
  bits = new Uint8Array(START_ROWS >> 3);

  grow(row: number): void {
    this.growValidity(row);
    const bits = new Uint8Array(this.capacity >> 3);
    bits.set(this.bits);
    this.bits = bits;
  }

  put(row: number, value: boolean): boolean {
    if (!this.claim(row)) return false;
    const bit = 1 << (row & 7);
    const byte = this.bits[row >> 3] as number;
    this.bits[row >> 3] = value ? byte | bit : byte & ~bit;
    return true;
  }

  /** The value of a row; undefined for null. */
  at(row: number): boolean | undefined {
    return this.isSet(row) ? (((this.bits[row >> 3] as number) >> (row & 7)) & 1) === 1 : undefined;
  }

  byteSize(): number {
    return this.next >> 3;
  }

  gather(chosen: ChosenRows, def: ColumnDef, arena: Arena): Vector {
    const { rows, runs } = chosen;
    const values = arena.take((rows.length + 7) >> 3).fill(0);
    if (runs === undefined) {
      for (let i = 0; i < rows.length; i++) {
        if (this.at(rows[i] as number) === true) values[i >> 3] = (values[i >> 3] as number) | (1 << (i & 7));
      }
    } else {
      for (let run = 0; run + 1 < runs.length; run++) {
        const at = runs[run] as number;
        const first = rows[at] as number;
        copyBits(this.bits, first, values, at, this.writtenOf(first, (runs[run + 1] as number) - at));
      }
    }
    return makeVector(this.gatherNullity(chosen, def, arena), undefined, values);
  }
}

function gatherPairs(words: Uint32Array, rows: Int32Array, gathered: Uint32Array): void {
  for (let i = 0; i < rows.length; i++) {
    const from = 2 * (rows[i] as number);
    gathered[2 * i] = words[from] as number;
    gathered[2 * i + 1] = words[from + 1] as number;
  }
}

const WORDS: Readonly<Record<Exclude<Physical, 'utf8' | 'binary' | 'bool'>, number>> = {
  int32: 1,
  int64: 2,
  decimal128: 4,
};

/** An empty column with the layout of its kind. */
export function createColumn(def: ColumnDef): BytesColumn | WordsColumn | BoolColumn {
  const { physical } = kinds[def.kind];
  switch (physical) {
    case 'utf8':
    case 'binary':
      return new BytesColumn(def);
    case 'bool':
      return new BoolColumn(def);
    default:
      return new WordsColumn(def, WORDS[physical]);
  }
}

export type AnyColumn = BytesColumn | WordsColumn | BoolColumn;
