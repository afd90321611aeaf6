import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Fault } from './retryable-failure.ts';

const SMALLEST_CHUNK = 65_536;
const LARGEST_CHUNK = 16_777_216;
/** JSON pages are compressed to a quarter or less; a wrong guess costs another chunk. */
const GUESSED_RATIO = 6;

const unpackGzip = promisify<Buffer, ZlibOptions, Buffer>(gunzip);
const unpackDeflate = promisify<Buffer, ZlibOptions, Buffer>(inflate);
const unpackBrotli = promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress);

/** The value of the `accept-encoding` header. */
export const ACCEPT_ENCODING = 'gzip, br';

/** A body that could not be decompressed. */
export class BodyFailure extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(fault.what, { cause });
    this.fault = fault;
  }
}

/**
 * Decompresses a body in the threads of zlib.
 *
 * @param maxBytes maximum decompressed size
 * @throws {BodyFailure} if the body is truncated, corrupt, too large or of an unknown encoding
 */
export async function decompress(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  let plain = body;
  const layers = encoding
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
  for (const layer of layers.reverse()) {
    if (plain.length > 0) plain = await unpack(plain, layer, maxBytes);
  }
  return plain;
}

async function unpack(body: Buffer, layer: string, maxBytes: number): Promise<Buffer> {
  const options = { maxOutputLength: maxBytes, chunkSize: chunkSize(body, layer) };
  try {
    switch (layer) {
      case 'gzip':
      case 'x-gzip':
        return await unpackGzip(body, options);
      case 'deflate':
        return await unpackDeflate(body, options);
      case 'br':
        return await unpackBrotli(body, options);
    }
  } catch (error) {
    if (error instanceof RangeError) {
      throw new BodyFailure({ code: 'too-large', what: `expected at most ${maxBytes} bytes, got more` }, error);
    }
    const detail = error instanceof Error ? error.message : String(error);
    const hint = 'try again later: the source or a proxy cuts off responses';
    const what = `the ${layer} body is truncated or corrupt`;
    throw new BodyFailure({ code: 'broken-body', what, detail, hint, pause: { kind: 'backoff' } }, error);
  }
  throw new BodyFailure({
    code: 'broken-body',
    what: `expected encoding ${ACCEPT_ENCODING}, got ${layer.slice(0, 40)}`,
  });
}

/** One chunk for the whole page if possible: each further chunk costs a thread switch and a copy. */
function chunkSize(body: Buffer, layer: string): number {
  const guess =
    layer.endsWith('gzip') && body.length >= 18 ? body.readUInt32LE(body.length - 4) + 64 : body.length * GUESSED_RATIO;
  return Math.min(Math.max(guess, SMALLEST_CHUNK), LARGEST_CHUNK);
}
