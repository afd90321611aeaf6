import * as zlib from 'node:zlib';

/** Compresses a page into a zstd frame. The caller owns the result. */
export type Compress = (bytes: Uint8Array) => Uint8Array;

/** Restores a page of `size` bytes from a zstd frame. The caller owns the result. */
export type Decompress = (frame: Uint8Array, size: number) => Uint8Array;

/** Same size as the default level on our pages, in half the time. */
const LEVEL = 1;

/** Available from Node 22.15 on, but not in the types of Node 20. */
interface ZlibWithZstd {
  readonly zstdCompressSync: (bytes: Uint8Array, options: { readonly params: Record<number, number> }) => Buffer;
  readonly zstdDecompressSync: (frame: Uint8Array) => Buffer;
  readonly constants: { readonly ZSTD_c_compressionLevel: number };
}

interface Zstd {
  readonly compress: Compress;
  readonly decompress: Decompress;
}

let loaded: Promise<Zstd> | undefined;
/** A single instance: opening a second one breaks the first. */
let wasm: Promise<Zstd> | undefined;

/** Node's own zstd, or the same library as WebAssembly in older versions. */
export function loadZstd(): Promise<Zstd> {
  loaded ??= openNative() ?? openWasm();
  return loaded;
}

function openNative(): Promise<Zstd> | undefined {
  if (!hasZstd(zlib)) return undefined;
  const { zstdCompressSync, zstdDecompressSync, constants } = zlib;
  const options = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } };
  return Promise.resolve({
    compress: (bytes) => zstdCompressSync(bytes, options),
    decompress: (frame) => zstdDecompressSync(frame),
  });
}

function hasZstd(own: object): own is ZlibWithZstd {
  return 'zstdCompressSync' in own;
}

/** For Node without zstd, and for tests. */
export function openWasm(): Promise<Zstd> {
  wasm ??= import('@bokuweb/zstd-wasm').then(async ({ init, compress, decompress }) => {
    await init();
    return {
      compress: (bytes) => compress(bytes, LEVEL),
      decompress: (frame, defaultHeapSize) => decompress(frame, { defaultHeapSize }),
    };
  });
  return wasm;
}
