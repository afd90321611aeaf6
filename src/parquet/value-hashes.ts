import { readFileSync } from 'node:fs';

/** Values in PLAIN encoding. */
export interface PlainValues {
  readonly values: Uint8Array;
  readonly count: number;
  /** Bytes of each value; 0 if each is preceded by its length. */
  readonly width: number;
}

type HashValues = (plain: PlainValues, into: Int32Array) => void;

/** The exports of `wasm/bloom-hashes.ts`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  start(): number;
  hashValues(values: number, count: number, width: number, out: number): void;
}

/** What is used of WebAssembly, which the types of Node 20 lack. */
interface WebAssemblyApi {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;

let loaded: HashValues | undefined;

/** Sets `into` to the high and low half of the xxHash64 of each value. */
export function hashValues(plain: PlainValues, into: Int32Array): void {
  loaded ??= openModule((globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly);
  loaded(plain, into);
}

function openModule({ Module, Instance }: WebAssemblyApi): HashValues {
  const code = readFileSync(new URL('../../wasm/bloom-hashes.wasm', import.meta.url));
  const { memory, ...module } = new Instance(new Module(code)).exports as Exports;
  const start = (module.start() + 7) & ~7;
  return ({ values, count, width }, into) => {
    const out = start + ((values.length + 7) & ~7);
    const lack = out + count * 8 - memory.buffer.byteLength;
    if (lack > 0) memory.grow(Math.ceil(lack / PAGE_BYTES));
    new Uint8Array(memory.buffer).set(values, start);
    module.hashValues(start, count, width, out);
    into.set(new Int32Array(memory.buffer, out, count * 2));
  };
}
