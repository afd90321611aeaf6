/** Layouts of values, as `src/parquet/encoder.ts` numbers them. */
export type Kind = u32;
export const BOOL: Kind = 0;
export const INT32: Kind = 1;
export const INT64: Kind = 2;
export const DECIMAL: Kind = 3;
/** Texts or bytes. */
export const TEXT: Kind = 4;

/** Bytes of a value; 0 for booleans and texts. */
export function widthOf(kind: Kind): u32 {
  return kind == INT32 ? 4 : kind == INT64 ? 8 : kind == DECIMAL ? 16 : 0;
}
