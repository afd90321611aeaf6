import * as zlib from 'node:zlib';

/** Compresses a page into a zstd frame. The caller owns the result. */
export type Compress = (bytes: Uint8Array) => Uint8Array;

/** Same size as the default level on our pages, in half the time. */
const LEVEL = 1;

/** Available from Node 22.15 on, but not in the types of Node 20. */
interface ZlibWithZstd {
  readonly zstdCompressSync?: (bytes: Uint8Array, options: { readonly params: Record<number, number> }) => Buffer;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
}

let loaded: Promise<Compress> | undefined;
/** A single instance: opening a second one breaks the first. */
let wasm: Promise<Compress> | undefined;

/** Node's own zstd, or the same library as WebAssembly in older versions. */
export function loadZstd(): Promise<Compress> {
  loaded ??= openNative() ?? openWasm();
  return loaded;
}

function openNative(): Promise<Compress> | undefined {
  const { zstdCompressSync, constants } = zlib as ZlibWithZstd;
  const level = constants.ZSTD_c_compressionLevel;
  if (zstdCompressSync === undefined || level === undefined) return undefined;
  const options = { params: { [level]: LEVEL } };
  return Promise.resolve((bytes) => zstdCompressSync(bytes, options));
}

/** For Node without zstd, and for tests. */
export function openWasm(): Promise<Compress> {
  wasm ??= import('@bokuweb/zstd-wasm').then(async ({ init, compress }) => {
    await init();
    return (bytes) => compress(bytes, LEVEL);
  });
  return wasm;
}
