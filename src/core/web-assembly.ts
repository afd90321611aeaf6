import { readFileSync } from 'node:fs';

/** What every module of `wasm/` exports besides its own functions. */
export interface Module {
  readonly memory: Memory;
  /** First byte of the memory that the caller may use. */
  start(): number;
}

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What is used of WebAssembly, which the types of Node 20 lack. */
interface WebAssemblyApi {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;

/** A new instance of `wasm/<name>.ts`. */
export function openModule<T extends Module>(name: string): T {
  const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  return new Instance(new Module(readFileSync(new URL(`../../wasm/${name}.wasm`, import.meta.url)))).exports as T;
}

/** The memory of a module, grown to at least `bytes`. */
export function memoryOf({ memory }: Module, bytes: number): ArrayBuffer {
  const lack = bytes - memory.buffer.byteLength;
  if (lack > 0) memory.grow(Math.ceil(lack / PAGE_BYTES));
  return memory.buffer;
}
