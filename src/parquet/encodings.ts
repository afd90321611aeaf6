/** Numbers of the format's encodings. */
export const encodings = { plain: 0, rle: 3, deltaLength: 6, dictionary: 8 } as const;
/** Numbers of the format's codecs. */
export const codecs = { none: 0, zstd: 6 } as const;
