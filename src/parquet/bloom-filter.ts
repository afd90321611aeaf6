import type { Physical } from '../declare/kind.ts';
import { ThriftWriter } from './thrift.ts';
import { hashValues } from './value-hashes.ts';

const FALSE_POSITIVE_RATE = 0.01;
const BLOCK_BYTES = 32;
const BLOCK_WORDS = 8;
/** Constants of the format. */
const salts = Int32Array.of(
  ...[0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d],
  ...[0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31],
);

/** Size of a filter in bytes: a power of two, because Arrow requires it. */
export function filterBytes(values: number): number {
  const bits = (-BLOCK_WORDS * values) / Math.log(1 - FALSE_POSITIVE_RATE ** (1 / BLOCK_WORDS));
  return 2 ** Math.ceil(Math.log2(Math.max(BLOCK_BYTES, bits / 8)));
}

/** Reused for all files: it keeps no state between calls. */
const out = new ThriftWriter();

const widthOf = { int32: 4, int64: 8, decimal128: 16 } as const;

/** Collects the values of a column chunk for a split-block Bloom filter. */
export class BloomFilterWriter {
  readonly #physical: Exclude<Physical, 'bool'>;
  /** High and low half of each value's hash. */
  #hashes = new Int32Array(1024);
  #count = 0;

  constructor(physical: Exclude<Physical, 'bool'>) {
    this.#physical = physical;
  }

  /** Adds `count` values in PLAIN encoding. */
  add(values: Uint8Array, count: number): void {
    this.#reserve(count);
    const isBytes = this.#physical === 'utf8' || this.#physical === 'binary';
    const width = isBytes ? 0 : widthOf[this.#physical as keyof typeof widthOf];
    hashValues({ values, count, width }, this.#hashes.subarray(this.#count * 2));
    this.#count += count;
  }

  /** Header and bits; undefined for at most one value, for which the bounds suffice. */
  encode(): Uint8Array | undefined {
    if (this.#count <= 1) return undefined;
    const words = new Int32Array(filterBytes(this.#count) / 4);
    const blocks = words.length / BLOCK_WORDS;
    for (let i = 0; i < this.#count * 2; i += 2) {
      // The high half selects the block.
      const block = Math.floor((((this.#hashes[i] as number) >>> 0) * blocks) / 2 ** 32) * BLOCK_WORDS;
      const low = this.#hashes[i + 1] as number;
      for (let word = 0; word < BLOCK_WORDS; word++) {
        const bit = 1 << (Math.imul(low, salts[word] as number) >>> 27);
        words[block + word] = (words[block + word] as number) | bit;
      }
    }
    return Buffer.concat([encodeHeader(words.byteLength), new Uint8Array(words.buffer)]);
  }

  #reserve(more: number): void {
    const least = (this.#count + more) * 2;
    if (least <= this.#hashes.length) return;
    const larger = new Int32Array(Math.max(least, this.#hashes.length * 2));
    larger.set(this.#hashes);
    this.#hashes = larger;
  }
}

/** A BloomFilterHeader of parquet.thrift: split blocks, xxHash64, uncompressed. */
function encodeHeader(bytes: number): Uint8Array {
  out.begin();
  out.i32(1, bytes);
  for (const choice of [2, 3, 4]) {
    out.begin(choice);
    out.empty(1);
    out.end();
  }
  out.end();
  return out.take();
}
