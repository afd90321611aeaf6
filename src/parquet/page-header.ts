import { out } from './thrift.ts';

/** Encodings of the format; `oldDictionary` is what DuckDB writes for `dictionary`. */
export const encodings = { plain: 0, oldDictionary: 2, rle: 3, dictionary: 8 } as const;
/** Codecs of the format. */
export const codecs = { none: 0, zstd: 6 } as const;
/** Page types of the format. */
export const pageKinds = { data: 0, dictionary: 2 } as const;

/** Header of a data page; `size` and `rawSize` are its compressed and uncompressed size. */
export function encodeDataHeader(rows: number, size: number, rawSize: number, encoding: number): Uint8Array {
  encodeSizes(pageKinds.data, size, rawSize);
  out.begin(5);
  out.i32(1, rows);
  out.i32(2, encoding);
  out.i32(3, encodings.rle);
  out.i32(4, encodings.rle);
  out.end();
  out.end();
  return out.take();
}

/** Header of a dictionary page. */
export function encodeDictionaryHeader(values: number, size: number, rawSize: number): Uint8Array {
  encodeSizes(pageKinds.dictionary, size, rawSize);
  out.begin(7);
  out.i32(1, values);
  out.i32(2, encodings.plain);
  out.end();
  out.end();
  return out.take();
}

function encodeSizes(kind: number, size: number, rawSize: number): void {
  out.begin();
  out.i32(1, kind);
  out.i32(2, rawSize);
  out.i32(3, size);
}
