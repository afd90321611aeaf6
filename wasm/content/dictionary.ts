// Labels of a dictionary's edges, as the node writes them: the shortest form, and of equal ones the first of same, long and short that it tries.

import { put } from '../cells/builder';

/** The label of the `length` bits of `prefix`, where keys have `most` bits left. */
export function putLabel(prefix: u32, length: u32, most: u32): void {
  const width: u32 = 32 - clz(most);
  const ones: u32 = length == 32 ? 0xffffffff : ((<u32>1) << length) - 1;
  if (length > 1 && (prefix == 0 || prefix == ones) && width < 2 * length - 1) {
    put(prefix == 0 ? 6 : 7, 3);
    put(length, width);
    return;
  }
  if (width < length) {
    put(2, 2);
    put(length, width);
  } else put((((<u64>1) << length) - 1) << 1, length + 2);
  put(prefix, length);
}
