import * as zlib from 'node:zlib';

/** Compresses a page into one frame of zstd. The bytes it gives are its caller's. */
export type Compress = (bytes: Uint8Array) => Uint8Array;

/** The same size as the default level on our pages, at half of the time. */
const LEVEL = 1;

/** What Node has from 22.15 on, and its types do not yet. */
interface ZlibWithZstd {
  readonly zstdCompressSync?: (bytes: Uint8Array, options: { readonly params: Record<number, number> }) => Buffer;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number };
}

let loaded: Promise<Compress> | undefined;
/** One instance: opening a second one breaks the first. */
let wasm: Promise<Compress> | undefined;

/** Node's own zstd; the same library as WebAssembly in a Node that has none. */
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

/** For a Node without zstd, and for the test that both give what every reader takes. */
export function openWasm(): Promise<Compress> {
  wasm ??= import('@bokuweb/zstd-wasm').then(async ({ init, compress }) => {
    await init();
    return (bytes) => compress(bytes, LEVEL);
  });
  return wasm;
}
