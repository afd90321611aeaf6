/** Encodings of the format; `oldDictionary` is what DuckDB writes for `dictionary`. */
export const encodings = { plain: 0, oldDictionary: 2, rle: 3, dictionary: 8 } as const;
/** Codecs of the format. */
export const codecs = { none: 0, zstd: 6 } as const;
