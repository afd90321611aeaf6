import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import avro from 'avsc';

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;

const headerType = avro.Type.forSchema({
  type: 'record',
  name: 'header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'magic', size: MAGIC.length } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'sync', size: SYNC_BYTES } },
  ],
});
const longType = avro.Type.forSchema('long');

/**
 * An Avro object container file with one compressed block.
 *
 * @param schema written verbatim, because the parsed form loses the field ids
 * @param metadata of the header
 * @throws {Error} if a record does not match the schema
 */
export function encodeAvro(
  schema: object,
  metadata: Readonly<Record<string, string>>,
  records: readonly object[],
): Buffer {
  const type = avro.Type.forSchema(schema as avro.Schema);
  const block = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))));
  const sync = createHash('sha256').update(block).digest().subarray(0, SYNC_BYTES);
  const texts = { ...metadata, 'avro.schema': JSON.stringify(schema), 'avro.codec': 'deflate' };
  const meta = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)]));
  const header = headerType.toBuffer({ magic: MAGIC, meta, sync });
  if (records.length === 0) return header;
  const sizes = [records.length, block.length].map((size) => longType.toBuffer(size));
  return Buffer.concat([header, ...sizes, block, sync]);
}

/** The records of a file of {@link encodeAvro}. @throws {RangeError} if it is truncated, or not such a file */
export function decodeAvro(bytes: Buffer): readonly unknown[] {
  try {
    return decodeBlocks(bytes);
  } catch (error) {
    throw new RangeError('expected a deflated Avro file', { cause: error });
  }
}

function decodeBlocks(bytes: Buffer): readonly unknown[] {
  const header = decodeAt(headerType, bytes, 0) as Decoded<Header>;
  const { magic, meta, sync } = header.value;
  if (!MAGIC.equals(magic) || String(meta['avro.codec']) !== 'deflate') throw new RangeError('unknown header');
  const type = avro.Type.forSchema(JSON.parse(String(meta['avro.schema'])));
  const records: unknown[] = [];
  let at = header.end;
  while (at < bytes.length) {
    const count = decodeAt(longType, bytes, at);
    const size = decodeAt(longType, bytes, count.end);
    const end = size.end + Number(size.value);
    if (!sync.equals(bytes.subarray(end, end + SYNC_BYTES))) throw new RangeError(`truncated block at ${at}`);
    const block = inflateRawSync(bytes.subarray(size.end, end));
    for (let left = Number(count.value), from = 0; left > 0; left--) {
      const record = decodeAt(type, block, from);
      records.push(record.value);
      from = record.end;
    }
    at = end + SYNC_BYTES;
  }
  return records;
}

interface Header {
  readonly magic: Buffer;
  readonly meta: Readonly<Record<string, Buffer>>;
  readonly sync: Buffer;
}

interface Decoded<T> {
  readonly value: T;
  readonly end: number;
}

function decodeAt(type: avro.Type, bytes: Buffer, at: number): Decoded<unknown> {
  const { value, offset } = type.decode(bytes, at) as { readonly value: unknown; readonly offset: number };
  if (offset < 0) throw new RangeError(`truncated Avro value at ${at}`);
  return { value, end: offset };
}
