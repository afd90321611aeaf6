/** A 64-bit number as two 32-bit halves, to avoid a bigint per value. */
interface Halves {
  high: number;
  low: number;
}

/** The primes of xxHash64: high and low halves. */
const P1H = 0x9e3779b1;
const P1L = 0x85ebca87;
const P2H = 0xc2b2ae3d;
const P2L = 0x27d4eb4f;
const P3H = 0x165667b1;
const P3L = 0x9e3779f9;
const P4H = 0x85ebca77;
const P4L = 0xc2b2ae63;
const P5H = 0x27d4eb2f;
const P5L = 0x165667c5;

/** The accumulator of the functions below. */
const acc: Halves = { high: 0, low: 0 };
/** The four lanes of long inputs: high and low half of each. */
const lanes = new Int32Array(8);
/** Their initial values: P1 + P2, P2, 0 and -P1. */
const firstLanes = Int32Array.of(0x60ea27ee, 0xadc0b5d6, P2H, P2L, 0, 0, 0x61c8864e, 0x7a143579);
/** Rotation of each lane before they are added. */
const LANE_BITS = Int32Array.of(1, 7, 12, 18);

/** The high half of the product of two unsigned numbers of 32 bits. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16);
  // Neither sum exceeds 32 bits.
  const second = Math.imul(aLow, bHigh) + (middle & 0xffff);
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (second >>> 16)) | 0;
}

function multiply(high: number, low: number): void {
  const product = multiplyHigh(acc.low, low) + Math.imul(acc.low, high) + Math.imul(acc.high, low);
  acc.low = Math.imul(acc.low, low);
  acc.high = product | 0;
}

function add(high: number, low: number): void {
  const sum = (acc.low >>> 0) + (low >>> 0);
  acc.low = sum | 0;
  acc.high = (acc.high + high + (sum > 0xffffffff ? 1 : 0)) | 0;
}

/** Rotates by less than 32 bits. */
function rotate(bits: number): void {
  const { high, low } = acc;
  acc.high = (high << bits) | (low >>> (32 - bits));
  acc.low = (low << bits) | (high >>> (32 - bits));
}

/** round(0, word). */
function mixWord(high: number, low: number): void {
  acc.high = high;
  acc.low = low;
  multiply(P2H, P2L);
}

function round(lane: number, high: number, low: number): void {
  mixWord(high, low);
  add(lanes[lane] as number, lanes[lane + 1] as number);
  rotate(31);
  multiply(P1H, P1L);
  lanes[lane] = acc.high;
  lanes[lane + 1] = acc.low;
}

function mergeLane(high: number, low: number, lane: number): void {
  mixWord(lanes[lane] as number, lanes[lane + 1] as number);
  rotate(31);
  multiply(P1H, P1L);
  acc.high ^= high;
  acc.low ^= low;
  multiply(P1H, P1L);
  add(P4H, P4L);
}

/** Sets the accumulator to the sum of the rotated lanes. */
function sumLanes(): void {
  let high = 0;
  let low = 0;
  for (let lane = 0; lane < 4; lane++) {
    acc.high = lanes[lane * 2] as number;
    acc.low = lanes[lane * 2 + 1] as number;
    rotate(LANE_BITS[lane] as number);
    add(high, low);
    high = acc.high;
    low = acc.low;
  }
}

function readStripes(view: DataView, from: number, end: number): number {
  lanes.set(firstLanes);
  let at = from;
  for (; at + 32 <= end; at += 32) {
    for (let lane = 0; lane < 8; lane += 2) {
      round(lane, view.getInt32(at + lane * 4 + 4, true), view.getInt32(at + lane * 4, true));
    }
  }
  sumLanes();
  for (let lane = 0; lane < 8; lane += 2) mergeLane(acc.high, acc.low, lane);
  return at;
}

/** Adds the remaining bytes, fewer than 32. */
function readTail(view: DataView, from: number, end: number): void {
  let at = from;
  for (; at + 8 <= end; at += 8) {
    const { high, low } = acc;
    mixWord(view.getInt32(at + 4, true), view.getInt32(at, true));
    rotate(31);
    multiply(P1H, P1L);
    acc.high ^= high;
    acc.low ^= low;
    rotate(27);
    multiply(P1H, P1L);
    add(P4H, P4L);
  }
  if (at + 4 <= end) {
    const { high, low } = acc;
    acc.high = 0;
    acc.low = view.getInt32(at, true);
    multiply(P1H, P1L);
    acc.high ^= high;
    acc.low ^= low;
    rotate(23);
    multiply(P2H, P2L);
    add(P3H, P3L);
    at += 4;
  }
  for (; at < end; at++) {
    const { high, low } = acc;
    acc.high = 0;
    acc.low = view.getUint8(at);
    multiply(P5H, P5L);
    acc.high ^= high;
    acc.low ^= low;
    rotate(11);
    multiply(P1H, P1L);
  }
}

function finish(): void {
  acc.low ^= acc.high >>> 1;
  multiply(P2H, P2L);
  // By 29 bits, then by 32.
  acc.low ^= (acc.high << 3) | (acc.low >>> 29);
  acc.high ^= acc.high >>> 29;
  multiply(P3H, P3L);
  acc.low ^= acc.high;
}

/**
 * xxHash64 with seed 0 of the bytes from `from` to before `end`, for Parquet's Bloom filters. Packages call WebAssembly for each value
 * and return a bigint or a text.
 *
 * @param out gets the high half at `at`, then the low half
 */
export function xxhash64(view: DataView, from: number, end: number, out: Int32Array, at: number): void {
  let rest = from;
  if (end - from >= 32) rest = readStripes(view, from, end);
  else {
    acc.high = P5H | 0;
    acc.low = P5L | 0;
  }
  add(0, end - from);
  readTail(view, rest, end);
  finish();
  out[at] = acc.high;
  out[at + 1] = acc.low;
}
