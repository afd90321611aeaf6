/** A cell of whole bytes as it stands in a bag. */
export interface RawCell {
  /** Hexadecimal. */
  readonly data: string;
  readonly refs?: readonly number[];
  /** Flags of the first descriptor byte, besides the number of references. */
  readonly type?: number;
}

/** A bag with 4-byte references, written without checks, so that it may be wrong. */
export function rawBag(cells: readonly RawCell[], { roots = 1 }: { readonly roots?: number } = {}): Buffer {
  const bodies = cells.map(({ data, refs = [], type = 0 }) => {
    const body = Buffer.alloc(2 + data.length / 2 + 4 * refs.length);
    body[0] = refs.length | type;
    body[1] = data.length;
    body.write(data, 2, 'hex');
    for (const [k, ref] of refs.entries()) body.writeUInt32BE(ref, 2 + data.length / 2 + 4 * k);
    return body;
  });
  const content = Buffer.concat(bodies);
  return Buffer.concat([bagHead(cells.length, content.length, roots), content]);
}

/** What precedes the cells. */
export function bagHead(count: number, size: number, roots = 1): Buffer {
  const head = Buffer.alloc(22 + 4 * roots);
  head.writeUInt32BE(0xb5ee9c72, 0);
  head[4] = 4;
  head[5] = 4;
  head.writeUInt32BE(count, 6);
  head.writeUInt32BE(roots, 10);
  head.writeUInt32BE(size, 18);
  for (let root = 0; root < roots; root++) head.writeUInt32BE(root, 22 + 4 * root);
  return head;
}
