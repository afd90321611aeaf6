import { StoreError } from '../core/errors.ts';
import { type AnyModule, openModule } from '../core/web-assembly.ts';
import { kinds, type Physical } from '../declare/kind.ts';
import type { Vector } from '../decode/batch.ts';
import type { Bounds } from './statistics.ts';

/** The exports of `wasm/encoder.ts`; numbers are addresses unless their names say otherwise. */
interface EncoderExports extends AnyModule {
  setLimit(bytes: number): void;
  roomFor(bytes: number): number;
  newChunk(kind: number, isFinal: number, hasFilter: number): number;
  dropChunk(chunk: number): void;
  encode(chunk: number, rows: number, nulls: number, validity: number, offsets: number, values: number): number;
  pagesAt(): number;
  plainSize(): number;
  mergeEntries(chunk: number, count: number): number;
  packPositions(chunk: number, count: number): number;
  outputAt(): number;
  addToFilter(chunk: number, count: number): void;
  closeDictionary(chunk: number): number;
  dictionaryAt(chunk: number): number;
  dictionaryBytes(chunk: number): number;
  filterCount(chunk: number): number;
  encodeFilter(chunk: number, bytes: number): number;
}

/** A page before compression. */
interface EncodedPage {
  readonly rows: number;
  readonly nulls: number;
  /** Encoding of its values. */
  readonly encoding: number;
  /** Levels and values, in the encoder's memory. */
  readonly raw: Uint8Array;
  /** Undefined if all values are null. */
  readonly bounds: Bounds | undefined;
}

/** A column of a batch as data pages. */
interface EncodedPages {
  readonly pages: readonly EncodedPage[];
  /** Size in PLAIN encoding, in bytes. */
  readonly plainBytes: number;
}

/** Numbers of the layouts in `wasm/encoder/kind.ts`. */
const layouts: Readonly<Record<Physical, number>> = { bool: 0, int32: 1, int64: 2, decimal128: 3, utf8: 4, binary: 4 };

/** Words of a page in `wasm/encoder.ts`. */
const PAGE_WORDS = 9;
/** Memory of WebAssembly never shrinks: above this size, the next row groups get a new instance. */
const RETAINED_BYTES = 256 * 2 ** 20;
/** Maximum memory of the open row groups and a column together, in bytes. */
const MAX_BYTES = 2 ** 31;

/** An instance of the encoder, with its open column chunks. Growing its memory detaches earlier views. */
export class Encoder {
  readonly calls = openModule<EncoderExports>('encoder');
  readonly #most: number;
  chunks = 0;
  #failure: StoreError | undefined;

  /** @param most maximum memory of its blocks, in bytes. Default 2 GiB */
  constructor(most: number = MAX_BYTES) {
    this.#most = most;
    this.calls.setLimit(most);
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.calls.memory.buffer);
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** @throws {StoreError} `too-large` if the memory is not enough; the instance is unusable then */
  call<T>(work: (calls: EncoderExports) => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return work(this.calls);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'RuntimeError') throw error;
      const most = Math.floor(this.#most / 2 ** 20);
      this.#failure = new StoreError(`store: expected columns of at most ${most} MiB together, got more`, {
        code: 'too-large',
        cause: error,
      });
      throw this.#failure;
    }
  }

  /** Copies bytes to the memory of the encoder. */
  copyIn(bytes: Uint8Array): number {
    const at = this.calls.roomFor(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }

  /** Copies a column to the memory of the encoder. @returns the addresses of its parts */
  copyColumn({ validity, offsets, values }: Vector, rows: number, width: number): readonly [number, number, number] {
    const bitmap = (rows + 7) >> 3;
    const from = offsets?.[0] ?? 0;
    const to = offsets === undefined ? (width === 0 ? bitmap : rows * width) : (offsets[rows] as number);
    const offsetBytes = offsets === undefined ? 0 : 4 * (rows + 1);
    const start = this.calls.roomFor(bitmap + offsetBytes + to - from + 3 * ALIGNMENT);
    const { bytes } = this;
    bytes.set(validity.subarray(0, bitmap), start);
    const offsetsAt = aligned(start + bitmap);
    if (offsets !== undefined) new Int32Array(bytes.buffer, offsetsAt, rows + 1).set(offsets.subarray(0, rows + 1));
    const valuesAt = aligned(offsetsAt + offsetBytes);
    bytes.set(values.subarray(from, to), valuesAt);
    return [start, offsetsAt, valuesAt - from];
  }
}

const ALIGNMENT = 16;

function aligned(at: number): number {
  return (at + ALIGNMENT - 1) & -ALIGNMENT;
}

const widths: Readonly<Record<Physical, number>> = { bool: 0, int32: 4, int64: 8, decimal128: 16, utf8: 0, binary: 0 };

let shared: Encoder | undefined;

/** Frees the memory retained for the next row group: useful after a large file, if only small ones follow. */
export function dropEncodingMemory(): void {
  shared = undefined;
}

function sharedEncoder(): Encoder {
  if (shared === undefined || shared.hasFailed) shared = new Encoder();
  return shared;
}

interface ChunkOptions {
  /** False for one page per column, without dictionary and bounds. */
  readonly isFinal: boolean;
  readonly hasFilter: boolean;
  /** Default: one for all files, because writing is synchronous. */
  readonly encoder?: Encoder;
}

/** Encodes the batches of a column chunk as pages. */
export class ChunkEncoder {
  readonly #encoder: Encoder;
  readonly #chunk: number;
  #isDropped = false;

  constructor(physical: Physical, { isFinal, hasFilter, encoder = sharedEncoder() }: ChunkOptions) {
    this.#encoder = encoder;
    this.#chunk = encoder.call(({ newChunk }) => newChunk(layouts[physical], Number(isFinal), Number(hasFilter)));
    encoder.chunks++;
  }

  /** Pages of the rows of a batch, whose memory may be reused afterwards. They are valid until the next call for any column. */
  encode(vector: Vector, rows: number): EncodedPages {
    return this.#encoder.call((calls) => {
      const { physical } = kinds[vector.column.kind];
      const [validity, offsets, values] = this.#encoder.copyColumn(vector, rows, widths[physical]);
      const count = calls.encode(this.#chunk, rows, vector.nullCount, validity, offsets, values);
      const { bytes } = this.#encoder;
      const words = new Uint32Array(bytes.buffer, calls.pagesAt(), count * PAGE_WORDS);
      const pages = Array.from({ length: count }, (_, page): EncodedPage => {
        const own = words.subarray(page * PAGE_WORDS);
        const [pageRows = 0, nulls = 0, encoding = 0, at = 0, size = 0, min = 0, minSize = 0, max = 0, maxSize = 0] =
          own;
        const raw = bytes.subarray(at, at + size);
        if (min === 0) return { rows: pageRows, nulls, encoding, raw, bounds: undefined };
        const bounds = {
          min: bytes.slice(min, min + minSize),
          max: bytes.slice(max, max + maxSize),
          isMinExact: true,
          isMaxExact: true,
        };
        return { rows: pageRows, nulls, encoding, raw, bounds };
      });
      return { pages, plainBytes: calls.plainSize() };
    });
  }

  /**
   * Adds the entries of another dictionary, in PLAIN encoding.
   *
   * @returns the position of each; undefined if there is no space for them
   */
  merge(entries: Uint8Array, count: number): Int32Array | undefined {
    return this.#encoder.call((calls) => {
      this.#encoder.copyIn(entries);
      const at = calls.mergeEntries(this.#chunk, count);
      return at === 0 ? undefined : new Int32Array(calls.memory.buffer.slice(at, at + 4 * count));
    });
  }

  /** Positions in the dictionary as a data page after its levels. */
  packPositions(positions: Int32Array): Uint8Array {
    return this.#encoder.call((calls) => {
      this.#encoder.copyIn(new Uint8Array(positions.buffer, positions.byteOffset, positions.byteLength));
      const size = calls.packPositions(this.#chunk, positions.length);
      return this.#encoder.bytes.slice(calls.outputAt(), calls.outputAt() + size);
    });
  }

  /** Adds values in PLAIN encoding to the Bloom filter. */
  addToFilter(values: Uint8Array, count: number): void {
    this.#encoder.call((calls) => {
      this.#encoder.copyIn(values);
      calls.addToFilter(this.#chunk, count);
    });
  }

  /** All values of the dictionary in PLAIN encoding, valid until the next call for any column. Adds them to the Bloom filter. */
  closeDictionary(): { readonly values: Uint8Array; readonly count: number } {
    return this.#encoder.call((calls) => {
      const count = calls.closeDictionary(this.#chunk);
      const at = calls.dictionaryAt(this.#chunk);
      return { values: this.#encoder.bytes.subarray(at, at + calls.dictionaryBytes(this.#chunk)), count };
    });
  }

  /** Number of values in the Bloom filter. */
  get filterCount(): number {
    return this.#encoder.call(({ filterCount }) => filterCount(this.#chunk));
  }

  /** The bits of the Bloom filter. @param bytes a power of two */
  encodeFilter(bytes: number): Uint8Array {
    return this.#encoder.call((calls) => {
      const at = calls.encodeFilter(this.#chunk, bytes);
      return this.#encoder.bytes.slice(at, at + bytes);
    });
  }

  /** Frees its memory; must be the last call. Repeated calls do nothing. */
  drop(): void {
    const encoder = this.#encoder;
    if (this.#isDropped) return;
    this.#isDropped = true;
    encoder.chunks--;
    if (!encoder.hasFailed) encoder.call(({ dropChunk }) => dropChunk(this.#chunk));
    if (encoder.chunks === 0 && encoder.bytes.length > RETAINED_BYTES && shared === encoder) shared = undefined;
  }
}
