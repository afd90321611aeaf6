import { readFileSync } from 'node:fs';
import { xxhash64 } from './xxhash64.ts';

/** Values in PLAIN encoding. */
export interface PlainValues {
  readonly values: Uint8Array;
  readonly count: number;
  /** Bytes of each value; 0 if each is preceded by its length. */
  readonly width: number;
}

/** Sets `into` to the high and low half of the xxHash64 of each value. */
export type HashValues = (plain: PlainValues, into: Int32Array) => void;

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

let chosen: HashValues | undefined;

/** Hashes by WebAssembly, 25 times as fast; in TypeScript where there is none (`node --jitless`). */
export function hashValues(plain: PlainValues, into: Int32Array): void {
  chosen ??= openModule(globalThis as { readonly WebAssembly?: WebAssemblyApi });
  chosen(plain, into);
}

/** The reference for the module. */
export function hashInTypeScript({ values, count, width }: PlainValues, into: Int32Array): void {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const from = width === 0 ? at + 4 : at;
    const end = from + (width === 0 ? view.getUint32(at, true) : width);
    xxhash64(view, from, end, into, i * 2);
    at = end;
  }
}

function openModule({ WebAssembly }: { readonly WebAssembly?: WebAssemblyApi }): HashValues {
  if (WebAssembly === undefined) return hashInTypeScript;
  const code = readFileSync(new URL('../../wasm/bloom-hashes.wasm', import.meta.url));
  const { memory, ...module } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports as Exports;
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
