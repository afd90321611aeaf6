// AssemblyScript: the hashes of Parquet's Bloom filters, in 64-bit numbers.

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;
const P3: u64 = 0x165667b19e3779f9;
const P4: u64 = 0x85ebca77c2b2ae63;
const P5: u64 = 0x27d4eb2f165667c5;

/** First byte of the memory that the caller may use. */
export function start(): usize {
  return __heap_base;
}

/**
 * xxHash64 with seed 0 of `count` values in PLAIN encoding.
 *
 * @param width bytes of a value; 0 if each is preceded by its length
 * @param out gets the high and the low half of each hash
 */
export function hashValues(values: usize, count: i32, width: i32, out: usize): void {
  let at = values;
  for (let i = 0; i < count; i++) {
    let length: usize = width;
    if (width == 0) {
      length = load<u32>(at);
      at += 4;
    }
    const hash = hashOf(at, length);
    store<u32>(out + ((<usize>i) << 3), <u32>(hash >> 32));
    store<u32>(out + ((<usize>i) << 3), <u32>hash, 4);
    at += length;
  }
}

function round(lane: u64, word: u64): u64 {
  return rotl(lane + word * P2, 31) * P1;
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * P1 + P4;
}

function hashOf(from: usize, length: usize): u64 {
  const end = from + length;
  let at = from;
  let hash = P5;
  if (length >= 32) {
    let a: u64 = P1 + P2;
    let b: u64 = P2;
    let c: u64 = 0;
    let d: u64 = 0 - P1;
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += length;
  for (; at + 8 <= end; at += 8) hash = rotl(hash ^ round(0, load<u64>(at)), 27) * P1 + P4;
  if (at + 4 <= end) {
    hash = rotl(hash ^ (<u64>load<u32>(at) * P1), 23) * P2 + P3;
    at += 4;
  }
  for (; at < end; at++) hash = rotl(hash ^ (<u64>load<u8>(at) * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}
