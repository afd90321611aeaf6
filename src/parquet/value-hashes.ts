import { type Module, memoryOf, openModule } from '../core/web-assembly.ts';

/** Values in PLAIN encoding. */
export interface PlainValues {
  readonly values: Uint8Array;
  readonly count: number;
  /** Bytes of each value; 0 if each is preceded by its length. */
  readonly width: number;
}

/** The exports of `wasm/bloom-hashes.ts`. */
interface BloomHashes extends Module {
  hashValues(values: number, count: number, width: number, out: number): void;
}

let loaded: BloomHashes | undefined;

/** Sets `into` to the high and low half of the xxHash64 of each value. */
export function hashValues({ values, count, width }: PlainValues, into: Int32Array): void {
  loaded ??= openModule<BloomHashes>('bloom-hashes');
  const start = (loaded.start() + 7) & ~7;
  const out = start + ((values.length + 7) & ~7);
  const memory = memoryOf(loaded, out + count * 8);
  new Uint8Array(memory).set(values, start);
  loaded.hashValues(start, count, width, out);
  into.set(new Int32Array(memory, out, count * 2));
}
