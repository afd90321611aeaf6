import type { Arena } from '../decode/arena.ts';
import { bytesOf, mix } from '../decode/bytes.ts';
import { bitsOf, packBits, putVarint } from './bit-packing.ts';
import { type ByteValues, lengthAt, plainSize } from './byte-values.ts';

/** Values as a list of distinct ones, and where in it each value stands. */
export interface Dictionary<T> {
  /** How many distinct values there are. */
  readonly size: number;
  /** The distinct values, in the order of their first appearance. */
  readonly values: T;
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
  /** For each distinct value, the first place that it stands at. */
  #firsts = new Int32Array(1024);
  /** For each value, its position in the dictionary. */
  #indices = new Int32Array(1024);
  #size = 0;

  /**
   * A dictionary of numbers.
   *
   * @param values of `width` words each
   * @returns undefined where a dictionary would not pay
   */
  ofWords(values: Int32Array, width: number, arena: Arena): Dictionary<Uint8Array> | undefined {
    const count = values.length / width;
    if (count === 0) return undefined;
    this.#reserve(count);
    if (!this.#findWords(values, count, width)) return undefined;
    const indices = this.#encode(count, this.#size * width * 4, values.byteLength, arena);
    if (indices === undefined) return undefined;
    const distinct = arena.words(this.#size * width);
    for (let i = 0; i < this.#size; i++) {
      const from = (this.#firsts[i] as number) * width;
      for (let word = 0; word < width; word++) distinct[i * width + word] = values[from + word] as number;
    }
    return { size: this.#size, values: bytesOf(distinct), indices };
  }

  /** A dictionary of texts or bytes. @returns undefined where a dictionary would not pay */
  ofBytes(values: ByteValues, arena: Arena): Dictionary<ByteValues> | undefined {
    const { count } = values;
    if (count === 0) return undefined;
    this.#reserve(count);
    if (!this.#findBytes(values)) return undefined;
    let bytes = 0;
    for (let i = 0; i < this.#size; i++) bytes += lengthAt(values.offsets, this.#firsts[i] as number);
    const indices = this.#encode(count, this.#size * 4 + bytes, plainSize(values), arena);
    if (indices === undefined) return undefined;
    return { size: this.#size, values: this.#collect(values, bytes, arena), indices };
  }

  #reserve(count: number): void {
    if (this.#indices.length < count) {
      this.#indices = new Int32Array(count * 2);
      this.#firsts = new Int32Array(count * 2);
    }
    let slots = this.#slots.length;
    while (slots < count * 2) slots *= 2;
    if (slots > this.#slots.length) this.#slots = new Int32Array(slots);
    this.#slots.fill(EMPTY);
    this.#size = 0;
  }

  /** Undefined where they and the distinct values take no less than all values do. */
  #encode(count: number, distinctBytes: number, allBytes: number, arena: Arena): Uint8Array | undefined {
    const bits = Math.max(1, bitsOf(this.#size - 1));
    if (distinctBytes + (count * bits) / 8 > WORTH * allBytes) return undefined;
    return encodeIndices(this.#indices, count, bits, arena);
  }

  #findWords(words: Int32Array, count: number, width: number): boolean {
    const [slots, firsts, indices] = [this.#slots, this.#firsts, this.#indices];
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
      while (known !== EMPTY && !isSame(words, at, (firsts[known] as number) * width, width)) {
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known === EMPTY) {
        if (size >= most || isSparse(size, row)) return false;
        known = size++;
        slots[slot] = known;
        firsts[known] = row;
      }
      indices[row] = known;
    }
    this.#size = size;
    return true;
  }

  #findBytes({ count, offsets, bytes }: ByteValues): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const [slots, firsts, indices] = [this.#slots, this.#firsts, this.#indices];
    const mask = slots.length - 1;
    const most = mostDistinct(count);
    let size = 0;
    let probes = MOST_PROBES * count;
    let before = 0;
    let beforeLength = -1;
    for (let row = 0; row < count; row++) {
      const at = offsets[row] as number;
      const length = lengthAt(offsets, row);
      const isAsBefore = length === beforeLength && isSameBytes(view, at, before, length);
      before = at;
      beforeLength = length;
      if (isAsBefore) {
        indices[row] = indices[row - 1] as number;
        continue;
      }
      let slot = finish(hashBytes(view, at, length)) & mask;
      let known = slots[slot] as number;
      while (known !== EMPTY) {
        const first = firsts[known] as number;
        if (lengthAt(offsets, first) === length && isSameBytes(view, at, offsets[first] as number, length)) break;
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known === EMPTY) {
        if (size >= most || isSparse(size, row)) return false;
        known = size++;
        slots[slot] = known;
        firsts[known] = row;
      }
      indices[row] = known;
    }
    this.#size = size;
    return true;
  }

  #collect(values: ByteValues, size: number, arena: Arena): ByteValues {
    const offsets = arena.ints(this.#size + 1);
    const bytes = arena.take(size);
    let to = 0;
    for (let i = 0; i < this.#size; i++) {
      const first = this.#firsts[i] as number;
      offsets[i] = to;
      bytes.set(values.bytes.subarray(values.offsets[first], values.offsets[first + 1]), to);
      to += lengthAt(values.offsets, first);
    }
    offsets[this.#size] = to;
    return { count: this.#size, offsets, bytes };
  }
}

function mostDistinct(count: number): number {
  return Math.max(1, count >> 1);
}

/** Whether most values so far were new. */
function isSparse(size: number, row: number): boolean {
  return row >= SAMPLE && size > row * WORTH;
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

function hashBytes(view: DataView, from: number, length: number): number {
  if (length < 4) return mix(length, shortWord(view, from, length));
  let hash = length;
  const end = from + length - 4;
  if (length <= LONG_HASH) for (let at = from; at < end; at += 4) hash = mix(hash, view.getInt32(at, true));
  else {
    hash = mix(hash, view.getInt32(from, true));
    hash = mix(hash, view.getInt32(from + (length >> 1), true));
    hash = mix(hash, view.getInt32(end - 4, true));
  }
  return mix(hash, view.getInt32(end, true));
}

/** Fewer than four bytes in one word. */
function shortWord(view: DataView, from: number, length: number): number {
  let word = 0;
  for (let at = from + length - 1; at >= from; at--) word = (word << 8) | view.getUint8(at);
  return word;
}

function isSame(words: Int32Array, a: number, b: number, width: number): boolean {
  for (let i = 0; i < width; i++) if (words[a + i] !== words[b + i]) return false;
  return true;
}

/** Compares two values of one length. */
function isSameBytes(view: DataView, a: number, b: number, length: number): boolean {
  if (length < 4) return shortWord(view, a, length) === shortWord(view, b, length);
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
  return view.getInt32(a + last, true) === view.getInt32(b + last, true);
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
    at = encodeGroups(indices, literal, row, bits, out, at);
    at = putVarint(out, at, run * 2);
    for (let shift = 0; shift < bits; shift += 8) out[at++] = (indices[row] as number) >>> shift;
    row += run;
    literal = row;
  }
  return out.subarray(0, encodeGroups(indices, literal, count, bits, out, at));
}

/** How many values from there on are the same. */
function runFrom(indices: Int32Array, row: number, count: number): number {
  const value = indices[row];
  let to = row + 1;
  while (to < count && indices[to] === value) to++;
  return to - row;
}

/** Packs the values from `from` to before `to` in groups of eight; the last may be filled up with zeros. */
function encodeGroups(
  indices: Int32Array,
  from: number,
  to: number,
  bits: number,
  out: Uint8Array,
  start: number,
): number {
  if (from === to) return start;
  const groups = (to - from + 7) >> 3;
  const at = putVarint(out, start, groups * 2 + 1);
  return packBits(indices, from, to, from + groups * 8, bits, out, at);
}
