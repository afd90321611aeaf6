import type { Arena } from '../decode/arena.ts';
import { bytesOf, copyBytes } from '../decode/bytes.ts';
import { bitsOf } from './bit-packing.ts';
import { type ByteValues, encodePlain, lengthAt, plainSize } from './byte-values.ts';
import { finishHash, hashBytes, hashWords, isSameBytes, isSameWords } from './dictionary-hash.ts';

/** Maximum size with a dictionary, relative to PLAIN encoding. */
const WORTH = 0.75;
/** Number of values after which repetition is judged. */
const SAMPLE = 512;
/** Maximum probes per value, in case values were chosen to collide. */
const MOST_PROBES = 8;
/** Maximum size of a dictionary page before compression, in bytes: readers load it for a single row. */
const MOST_BYTES = 2 * 2 ** 20;

/** Positions of the values of one batch; shared by all columns, because encoding is synchronous. */
let indices = new Int32Array(1024);

/** The distinct values of a column chunk, in order of first appearance. */
abstract class Dictionary {
  /** Entry + 1 by hash; 0 is a free slot. */
  protected slots = new Int32Array(1024);
  protected hashes = new Int32Array(512);
  #size = 0;
  #isGiven = false;
  /** Size before the current batch. */
  protected before = 0;

  /** Number of distinct values. */
  get size(): number {
    return this.#size;
  }

  /** True if all values are from the last batch. */
  get isOfOneBatch(): boolean {
    return this.before === 0;
  }

  /** Bit width of a position. */
  get bits(): number {
    return Math.max(1, bitsOf(this.#size - 1));
  }

  /** Removes all values but keeps the memory. */
  reset(): void {
    this.slots.fill(0);
    this.#size = 0;
  }

  /** @param isGiven true for the entries of another dictionary, which are added if there is space */
  protected begin(count: number, isGiven: boolean): Int32Array {
    this.#isGiven = isGiven;
    if (indices.length < count) indices = new Int32Array(count * 2);
    this.before = this.#size;
    return indices;
  }

  /** True if another new value at this position of the batch makes the dictionary too large to pay off. */
  protected isTooMany(row: number, count: number): boolean {
    const added = this.#size - this.before;
    if (this.#isGiven) return false;
    return added >= Math.max(1, count >> 1) || (row >= SAMPLE && added > row * WORTH);
  }

  /** Adds an entry; the caller adds its value. */
  protected enter(slot: number, hash: number): number {
    const entry = this.#size++;
    if (entry >= this.hashes.length) this.hashes = grown(this.hashes, entry + 1);
    this.hashes[entry] = hash;
    this.slots[slot] = entry + 1;
    if (this.#size * 2 > this.slots.length) this.#rehash();
    return entry;
  }

  /** Removes the entries of the batch if they do not pay off. */
  protected settle(isFound: boolean, count: number, addedBytes: number, plainBytes: number, allBytes: number): boolean {
    const pays = this.#isGiven || addedBytes + (count * this.bits) / 8 <= WORTH * plainBytes;
    if (isFound && pays && allBytes <= MOST_BYTES) return true;
    this.#size = this.before;
    return false;
  }

  #rehash(): void {
    const slots = new Int32Array(this.slots.length * 4);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#size; entry++) {
      let slot = (this.hashes[entry] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.slots = slots;
  }
}

/** A dictionary of numbers of `width` words of 32 bits each. */
export class WordDictionary extends Dictionary {
  readonly width: number;
  #words = new Int32Array(512);

  constructor(width: number) {
    super();
    this.width = width;
  }

  /**
   * Adds the numbers of a batch, or the entries of another dictionary.
   *
   * @returns the position of each, valid until the next call for any column; undefined if a dictionary no longer pays off: then no
   *   batch may follow
   */
  add(words: Int32Array, isGiven = false): Int32Array | undefined {
    const count = words.length / this.width;
    const into = this.begin(count, isGiven);
    const isFound = this.#find(words, count, into);
    const entryBytes = this.width * 4;
    const added = (this.size - this.before) * entryBytes;
    return this.settle(isFound, count, added, words.byteLength, this.size * entryBytes) ? into : undefined;
  }

  /** The values of all entries in PLAIN encoding. */
  values(): Uint8Array {
    return new Uint8Array(this.#words.buffer, 0, this.size * this.width * 4);
  }

  /** The values of some entries in PLAIN encoding. */
  pick(entries: Int32Array, arena: Arena): Uint8Array {
    const picked = arena.words(entries.length * this.width);
    let to = 0;
    for (const entry of entries) {
      const from = entry * this.width;
      for (let word = from; word < from + this.width; word++) picked[to++] = this.#words[word] as number;
    }
    return bytesOf(picked);
  }

  #find(words: Int32Array, count: number, into: Int32Array): boolean {
    const { width } = this;
    let [slots, hashes, own] = [this.slots, this.hashes, this.#words];
    let probes = MOST_PROBES * count;
    for (let row = 0; row < count; row++) {
      const at = row * width;
      if (row > 0 && isSameWords(words, at, words, at - width, width)) {
        into[row] = into[row - 1] as number;
        continue;
      }
      const hash = finishHash(hashWords(words, at, width));
      const mask = slots.length - 1;
      let slot = hash & mask;
      let entry = (slots[slot] as number) - 1;
      while (entry >= 0 && !(hashes[entry] === hash && isSameWords(words, at, own, entry * width, width))) {
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        entry = (slots[slot] as number) - 1;
      }
      if (entry < 0) {
        if (this.isTooMany(row, count)) return false;
        entry = this.enter(slot, hash);
        const end = (entry + 1) * width;
        if (end > own.length) this.#words = grown(own, end);
        [slots, hashes, own] = [this.slots, this.hashes, this.#words];
        for (let word = 0; word < width; word++) own[entry * width + word] = words[at + word] as number;
      }
      into[row] = entry;
    }
    return true;
  }
}

/** A dictionary of texts or bytes. */
export class ByteDictionary extends Dictionary {
  #offsets = new Int32Array(512);
  #bytes = new Uint8Array(8192);
  #view = new DataView(this.#bytes.buffer);

  /** As {@link WordDictionary.add}. */
  add(values: ByteValues, isGiven = false): Int32Array | undefined {
    const into = this.begin(values.count, isGiven);
    const bytesBefore = this.#plainBytes;
    const isFound = this.#find(values, into);
    const all = this.#plainBytes;
    return this.settle(isFound, values.count, all - bytesBefore, plainSize(values), all) ? into : undefined;
  }

  /** The values of all entries. */
  values(): ByteValues {
    return { count: this.size, offsets: this.#offsets, bytes: this.#bytes };
  }

  encode(arena: Arena): Uint8Array {
    return encodePlain(this.values(), arena);
  }

  get #plainBytes(): number {
    return 4 * this.size + (this.#offsets[this.size] as number);
  }

  #find({ count, offsets, bytes }: ByteValues, into: Int32Array): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let [slots, hashes] = [this.slots, this.hashes];
    let probes = MOST_PROBES * count;
    let before = 0;
    let beforeLength = -1;
    for (let row = 0; row < count; row++) {
      const at = offsets[row] as number;
      const length = lengthAt(offsets, row);
      const isAsBefore = length === beforeLength && isSameBytes(view, at, view, before, length);
      before = at;
      beforeLength = length;
      if (isAsBefore) {
        into[row] = into[row - 1] as number;
        continue;
      }
      const hash = finishHash(hashBytes(view, at, length));
      const mask = slots.length - 1;
      let slot = hash & mask;
      let entry = (slots[slot] as number) - 1;
      while (entry >= 0 && !(hashes[entry] === hash && this.#isEntry(entry, view, at, length))) {
        if (--probes < 0) return false;
        slot = (slot + 1) & mask;
        entry = (slots[slot] as number) - 1;
      }
      if (entry < 0) {
        if (this.isTooMany(row, count)) return false;
        entry = this.enter(slot, hash);
        [slots, hashes] = [this.slots, this.hashes];
        this.#append(entry, bytes, view, at, length);
        if (this.#plainBytes > MOST_BYTES) return false;
      }
      into[row] = entry;
    }
    return true;
  }

  #isEntry(entry: number, view: DataView, at: number, length: number): boolean {
    if (lengthAt(this.#offsets, entry) !== length) return false;
    return isSameBytes(this.#view, this.#offsets[entry] as number, view, at, length);
  }

  #append(entry: number, from: Uint8Array, view: DataView, at: number, length: number): void {
    if (entry + 1 >= this.#offsets.length) this.#offsets = grown(this.#offsets, entry + 2);
    const start = this.#offsets[entry] as number;
    const end = start + length;
    // Word copies may exceed the value.
    if (end + 3 > this.#bytes.length) this.#growTo(end + 3, start);
    if (at + length + 3 > from.length) this.#bytes.set(from.subarray(at, at + length), start);
    else copyBytes(this.#bytes, this.#view, start, from, view, at, length);
    this.#offsets[entry + 1] = end;
  }

  #growTo(least: number, used: number): void {
    const larger = new Uint8Array(Math.max(least, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, used));
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

function grown(ints: Int32Array, least: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(least, ints.length * 2));
  larger.set(ints);
  return larger;
}
