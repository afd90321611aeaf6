import { mix } from '../decode/bytes.ts';

/** Longer values are hashed by four of their words: different values mostly share no more than a prefix. */
const LONG_HASH = 16;

export function finishHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

export function hashWords(words: Int32Array, from: number, width: number): number {
  let hash = 0;
  for (let word = from; word < from + width; word++) hash = mix(hash, words[word] as number);
  return hash;
}

export function hashBytes(view: DataView, from: number, length: number): number {
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

export function isSameWords(left: Int32Array, a: number, right: Int32Array, b: number, width: number): boolean {
  for (let i = 0; i < width; i++) if (left[a + i] !== right[b + i]) return false;
  return true;
}

/** Compares two values of the same length. */
export function isSameBytes(left: DataView, a: number, right: DataView, b: number, length: number): boolean {
  if (length < 4) return shortWord(left, a, length) === shortWord(right, b, length);
  const last = length - 4;
  for (let i = 0; i < last; i += 4) if (left.getInt32(a + i, true) !== right.getInt32(b + i, true)) return false;
  return left.getInt32(a + last, true) === right.getInt32(b + last, true);
}

/** Fewer than four bytes in one word. */
function shortWord(view: DataView, from: number, length: number): number {
  let word = 0;
  for (let at = from + length - 1; at >= from; at--) word = (word << 8) | view.getUint8(at);
  return word;
}
