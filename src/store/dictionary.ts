import type { Arena } from '../flatten/arena.ts';
import { putVarint } from './varint.ts';

/** Values in PLAIN encoding as a list of distinct ones, and where in it each value stands. */
export interface Dictionary {
  /** How many distinct values there are. */
  readonly size: number;
  /** The distinct values in PLAIN encoding, in the order of their first appearance. */
  readonly values: Uint8Array;
  /** Width in bits, then positions in Parquet's hybrid of runs and packed bits: what a data page holds behind its levels. */
  readonly indices: Uint8Array;
}

/** A dictionary has to make this much of the values' bytes, or it is not worth a reader's detour. */
const WORTH = 0.75;
/** After so many values it shows whether they repeat. */
const SAMPLE = 512;
/** Longer values are hashed by four words of them: what repeats mostly has no more in common than a beginning. */
const LONG_HASH = 16;
/** Looks at slots for each value before giving up: whoever chooses the values might choose such as collide. */
const MOST_PROBES = 8;
const EMPTY = -1;

/** Makes dictionaries. One for all columns and files: its memory is used again. */
export class DictionaryMaker {
  #slots = new Int32Array(1024);
  /** For each distinct value, where it begins. */
  #starts = new Int32Array(1024);
  /** For each value, its position in the dictionary. */
  #indices = new Int32Array(1024);
  #size = 0;
  #bytes = 0;

  /**
   * @param values PLAIN encoding; starts at a multiple of 4 bytes, with 3 bytes behind it that may be read
   * @param width bytes of a value; undefined for texts and bytes, which begin with their length
   * @returns undefined where a dictionary would not pay
   */
  make(values: Uint8Array, count: number, width: number | undefined, arena: Arena): Dictionary | undefined {
    if (count === 0) return undefined;
    this.#reserve(count);
    const isFound = width === undefined ? this.#findBytes(values, count) : this.#findWords(values, count, width >> 2);
    if (!isFound) return undefined;
    const bits = bitsFor(this.#size);
    if (this.#bytes + (count * bits) / 8 > WORTH * values.length) return undefined;
    return {
      size: this.#size,
      values: this.#collect(values, width, arena),
      indices: encodeIndices(this.#indices, count, bits, arena),
    };
  }

  #reserve(count: number): void {
    if (this.#indices.length < count) {
      this.#indices = new Int32Array(count * 2);
      this.#starts = new Int32Array(count * 2);
    }
    let slots = this.#slots.length;
    while (slots < count * 2) slots *= 2;
    if (slots > this.#slots.length) this.#slots = new Int32Array(slots);
    this.#slots.fill(EMPTY);
    this.#size = 0;
    this.#bytes = 0;
  }

  #findWords(values: Uint8Array, count: number, width: number): boolean {
    const words = new Int32Array(values.buffer, values.byteOffset, count * width);
    const [slots, starts, indices] = [this.#slots, this.#starts, this.#indices];
    const mask = slots.length - 1;
    const most = mostDistinct(count);
    let size = 0;
    let probes = MOST_PROBES * count;
    for (let row = 0; row < count; row++) {
      const at = row * width;
      if (row > 0 && isSame(words, at, at - width, width)) {
        indices[row] = indices[row - 1] as number;
        continue;
      }
      let hash = 0;
      for (let word = at; word < at + width; word++) hash = mix(hash, words[word] as number);
      let slot = finish(hash) & mask;
      let known = slots[slot] as number;
      while (known !== EMPTY && !isSame(words, at, (starts[known] as number) >> 2, width)) {
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known === EMPTY) {
        if (size >= most || isSparse(size, row)) return false;
        known = size++;
        slots[slot] = known;
        starts[known] = at << 2;
      }
      indices[row] = known;
    }
    this.#size = size;
    this.#bytes = size * width * 4;
    return true;
  }

  #findBytes(values: Uint8Array, count: number): boolean {
    // To the end of the memory, because words of four bytes may reach behind the last value.
    const view = new DataView(values.buffer, values.byteOffset);
    const [slots, starts, indices] = [this.#slots, this.#starts, this.#indices];
    const mask = slots.length - 1;
    const most = mostDistinct(count);
    let size = 0;
    let bytes = 0;
    let probes = MOST_PROBES * count;
    let at = 0;
    let before = 0;
    for (let row = 0; row < count; row++) {
      const length = view.getInt32(at, true);
      if (row > 0 && isSameBytes(view, at, before, length)) {
        indices[row] = indices[row - 1] as number;
        at += 4 + length;
        continue;
      }
      before = at;
      let slot = finish(hashBytes(view, at + 4, length)) & mask;
      let known = slots[slot] as number;
      while (known !== EMPTY && !isSameBytes(view, at, starts[known] as number, length)) {
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known === EMPTY) {
        if (size >= most || isSparse(size, row)) return false;
        known = size++;
        slots[slot] = known;
        starts[known] = at;
        bytes += 4 + length;
      }
      indices[row] = known;
      at += 4 + length;
    }
    this.#size = size;
    this.#bytes = bytes;
    return true;
  }

  #collect(values: Uint8Array, width: number | undefined, arena: Arena): Uint8Array {
    const out = arena.take(this.#bytes);
    const view = new DataView(values.buffer, values.byteOffset);
    let to = 0;
    for (let i = 0; i < this.#size; i++) {
      const from = this.#starts[i] as number;
      const length = width ?? 4 + view.getInt32(from, true);
      out.set(values.subarray(from, from + length), to);
      to += length;
    }
    return out;
  }
}

function mostDistinct(count: number): number {
  return Math.max(1, count >> 1);
}

/** Whether most values so far were new. */
function isSparse(size: number, row: number): boolean {
  return row >= SAMPLE && size > row * WORTH;
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

function hashBytes(view: DataView, from: number, length: number): number {
  let hash = length;
  if (length <= LONG_HASH) {
    const whole = from + (length & ~3);
    for (let at = from; at < whole; at += 4) hash = mix(hash, view.getInt32(at, true));
    return (length & 3) === 0 ? hash : mix(hash, view.getInt32(whole, true) & lastBytes(length));
  }
  const end = from + length - 4;
  hash = mix(hash, view.getInt32(from, true));
  hash = mix(hash, view.getInt32(from + (length >> 1), true));
  hash = mix(hash, view.getInt32(end - 4, true));
  return mix(hash, view.getInt32(end, true));
}

/** Mask of the bytes of a last word that belong to a value of that length. */
function lastBytes(length: number): number {
  return (1 << ((length & 3) * 8)) - 1;
}

function isSame(words: Int32Array, a: number, b: number, width: number): boolean {
  for (let i = 0; i < width; i++) if (words[a + i] !== words[b + i]) return false;
  return true;
}

/** Compares two values with their lengths, that of `a` being `length`. */
function isSameBytes(view: DataView, a: number, b: number, length: number): boolean {
  if (view.getInt32(b, true) !== length) return false;
  const whole = 4 + (length & ~3);
  for (let i = 4; i < whole; i += 4) if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
  return (
    (length & 3) === 0 || ((view.getInt32(a + whole, true) ^ view.getInt32(b + whole, true)) & lastBytes(length)) === 0
  );
}

/** Bits that the positions in a list of so many values take; at least one, because readers differ about none. */
function bitsFor(size: number): number {
  return Math.max(1, 32 - Math.clz32(size - 1));
}

function encodeIndices(indices: Int32Array, count: number, bits: number, arena: Arena): Uint8Array {
  // A group of eight values takes its bits and a header, or a run takes a header and its value.
  const out = arena.take(1 + ((count >> 3) + 2) * (bits + 8));
  out[0] = bits;
  let at = 1;
  let literal = 0;
  let row = 0;
  while (row < count) {
    const run = runFrom(indices, row, count);
    if (run < 8) {
      row += 8;
      continue;
    }
    at = packBits(indices, literal, row, bits, out, at);
    at = putVarint(out, at, run * 2);
    for (let shift = 0; shift < bits; shift += 8) out[at++] = (indices[row] as number) >>> shift;
    row += run;
    literal = row;
  }
  return out.subarray(0, packBits(indices, literal, count, bits, out, at));
}

/** How many values from there on are the same. */
function runFrom(indices: Int32Array, row: number, count: number): number {
  const value = indices[row];
  let to = row + 1;
  while (to < count && indices[to] === value) to++;
  return to - row;
}

/** Packs the values from `from` to before `to` in groups of eight; the last may be filled up with zeros. */
function packBits(indices: Int32Array, from: number, to: number, bits: number, out: Uint8Array, start: number): number {
  if (from === to) return start;
  const groups = (to - from + 7) >> 3;
  let at = putVarint(out, start, groups * 2 + 1);
  let held = 0;
  let heldBits = 0;
  for (let row = from; row < from + groups * 8; row++) {
    held |= (row < to ? (indices[row] as number) : 0) << heldBits;
    heldBits += bits;
    while (heldBits >= 8) {
      out[at++] = held;
      held >>>= 8;
      heldBits -= 8;
    }
  }
  return at;
}
