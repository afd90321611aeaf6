import { readFileSync } from 'node:fs';

/** What every module of `wasm/` exports. */
export interface AnyModule {
  readonly memory: Memory;
}

/** A module whose memory the caller divides. */
export interface Module extends AnyModule {
  /** First byte of the memory that the caller may use. */
  start(): number;
}

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The used part of WebAssembly, which the types of Node 20 lack. */
interface WebAssemblyApi {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;

const compiled = new Map<string, object>();

/** A new instance of `wasm/<name>.ts`; all instances in a thread share their code. */
export function openModule<T extends AnyModule>(name: string): T {
  const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
  const module = compiled.get(name) ?? new Module(readFileSync(new URL(`../../wasm/${name}.wasm`, import.meta.url)));
  compiled.set(name, module);
  return new Instance(module).exports as T;
}

/** The memory of a module, grown to at least `bytes`. */
export function memoryOf({ memory }: Module, bytes: number): ArrayBuffer {
  const lack = bytes - memory.buffer.byteLength;
  if (lack > 0) memory.grow(Math.ceil(lack / PAGE_BYTES));
  return memory.buffer;
}
