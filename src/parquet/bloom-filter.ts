import type { ChunkEncoder } from './encoder.ts';
import { out } from './thrift.ts';

const FALSE_POSITIVE_RATE = 0.01;
const BLOCK_BYTES = 32;
const BLOCK_WORDS = 8;

/** Size of a filter in bytes: a power of two, because Arrow requires it. */
export function filterBytes(values: number): number {
  const bits = (-BLOCK_WORDS * values) / Math.log(1 - FALSE_POSITIVE_RATE ** (1 / BLOCK_WORDS));
  return 2 ** Math.ceil(Math.log2(Math.max(BLOCK_BYTES, bits / 8)));
}

/** Header and bits of the filter of a column chunk; undefined for at most one value, for which the bounds suffice. */
export function encodeFilter(encoder: ChunkEncoder): Uint8Array | undefined {
  const { filterCount } = encoder;
  if (filterCount <= 1) return undefined;
  const bits = encoder.encodeFilter(filterBytes(filterCount));
  return Buffer.concat([encodeHeader(bits.length), bits]);
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
