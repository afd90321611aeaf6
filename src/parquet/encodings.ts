/** Encodings of the format. */
export const encodings = { plain: 0, rle: 3, deltaLength: 6, dictionary: 8 } as const;
/** Codecs of the format. */
export const codecs = { none: 0, zstd: 6 } as const;
