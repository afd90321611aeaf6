import { cached, mix32, mixOf } from './mix.ts';

/** Kind of record that a hash belongs to; part of the hash. */
export const HASH_KIND = {
  transaction: 1,
  message: 2,
  normalized: 3,
  state: 4,
  stateData: 5,
  vmInit: 6,
  vmFinal: 7,
  actions: 8,
  blockRoot: 9,
  blockFile: 10,
  blockRand: 11,
  blockCreator: 12,
  account: 13,
  frozen: 14,
  action: 15,
} as const;
export type HashKind = (typeof HASH_KIND)[keyof typeof HASH_KIND];

/** The record and epoch that a hash belongs to. */
export interface Tag {
  /** The template the record belongs to: 0 ordinary epochs, 1 giant blocks, 2 the block of ties. */
  readonly family: number;
  readonly kind: number;
  readonly id: number;
  readonly epoch: number;
}

/** Hashes can be of this many epochs before the first. */
const EPOCH_SHIFT = 1024;

/** Makes hashes whose first 12 bytes are the encrypted tag, so that a lookup by hash needs no table. */
export class TagCodec {
  readonly #seed: number;
  readonly #tails = new Map<number, Buffer>();

  constructor(seed: number) {
    this.#seed = mixOf(seed, 0x7a6);
  }

  #check(first: number, second: number): number {
    return mix32(mix32(Math.imul(first, 0x9e3779b1) ^ this.#seed) + Math.imul(second, 0x85ebca77));
  }

  /** The 32 bytes; the last 20 are the same in every epoch. */
  bytes(family: number, kind: number, id: number, epoch: number): Buffer {
    const first = (epoch + EPOCH_SHIFT) | 0;
    const second = (family << 30) | (kind << 24) | id;
    const c = this.#check(first, second);
    const a = first ^ mix32(c ^ this.#seed);
    const out = Buffer.allocUnsafe(32);
    out.writeInt32BE(a, 0);
    out.writeInt32BE(second ^ mix32((a + c) | 0), 4);
    out.writeUInt32BE(c, 8);
    out.set(this.#tail(family, kind, id), 12);
    return out;
  }

  #tail(family: number, kind: number, id: number): Buffer {
    return cached(this.#tails, (family * 64 + kind) * 2 ** 24 + id, () => {
      const out = Buffer.alloc(20);
      for (let word = 0; word < 5; word += 1) out.writeUInt32BE(mixOf(this.#seed, family, kind, id, word), word * 4);
      return out;
    });
  }

  /** The whole hash: base64, 44 characters. */
  hash(family: number, kind: number, id: number, epoch: number): string {
    return this.bytes(family, kind, id, epoch).toString('base64');
  }

  /** The tag of a hash; undefined if it was not made with this seed. */
  decode(bytes: Uint8Array): Tag | undefined {
    if (bytes.length < 12) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const a = view.getUint32(0);
    const c = view.getUint32(8);
    const second = view.getUint32(4) ^ mix32((a + c) | 0);
    const first = a ^ mix32(c ^ this.#seed);
    if (this.#check(first, second) !== c) return undefined;
    return {
      family: second >>> 30,
      kind: (second >>> 24) & 63,
      id: second & 0xffffff,
      epoch: first - EPOCH_SHIFT,
    };
  }
}
