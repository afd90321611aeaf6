import { createHash } from 'node:crypto';

/** A cell: up to 1023 bits and 4 references. */
export interface Cell {
  /** Text of 0 and 1. */
  readonly bits: string;
  readonly refs: readonly Cell[];
  readonly hash: Buffer;
  readonly depth: number;
}

/** Makes a cell with its representation hash. */
export function cell(bits: string, refs: readonly Cell[] = []): Cell {
  const depth = refs.length === 0 ? 0 : 1 + Math.max(...refs.map((ref) => ref.depth));
  const depths = Buffer.alloc(refs.length * 2);
  refs.forEach((ref, index) => {
    depths.writeUInt16BE(ref.depth, index * 2);
  });
  const hash = createHash('sha256')
    .update(head(bits, refs))
    .update(packBits(bits))
    .update(depths)
    .update(Buffer.concat(refs.map((ref) => ref.hash)))
    .digest();
  return { bits, refs, hash, depth };
}

function head(bits: string, refs: readonly Cell[]): Buffer {
  return Buffer.from([refs.length, Math.floor(bits.length / 8) + Math.ceil(bits.length / 8)]);
}

/** Bits as bytes, padded with a 1 and zeros. */
function packBits(bits: string): Buffer {
  const rest = bits.length % 8;
  const padded = rest === 0 ? bits : `${bits}1${'0'.repeat(7 - rest)}`;
  const out = Buffer.alloc(padded.length / 8);
  // The character code of 0 is even, that of 1 is odd.
  for (let at = 0; at < padded.length; at++) out[at >> 3] = ((out[at >> 3] ?? 0) << 1) | (padded.charCodeAt(at) & 1);
  return out;
}

/** The bag of cells with checksum, standard base64. At most 255 cells. */
export function toBoc(root: Cell): string {
  const order = [root];
  const parts: Buffer[] = [];
  // The loop also visits the cells that it adds.
  for (const { bits, refs } of order) {
    const links = refs.map((ref) => order.push(ref) - 1);
    parts.push(head(bits, refs), packBits(bits), Buffer.from(links));
  }
  const bodies = Buffer.concat(parts);
  const wide = bodies.length > 255;
  const sizes = Buffer.alloc(wide ? 2 : 1);
  sizes.writeUIntBE(bodies.length, 0, sizes.length);
  const start = Buffer.from([0xb5, 0xee, 0x9c, 0x72, 0x41, sizes.length, order.length, 1, 0]);
  const whole = Buffer.concat([start, sizes, Buffer.from([0]), bodies]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32c(whole));
  return Buffer.concat([whole, sum]).toString('base64');
}

const CRC_TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value >>> 0;
});

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** `value` as `width` bits, in two's complement. */
export function uintBits(value: number | bigint, width: number): string {
  return BigInt.asUintN(width, BigInt(value)).toString(2).padStart(width, '0');
}

/** An amount of coins: its length in bytes as 4 bits, then the number. */
export function coinBits(value: number | bigint): string {
  const text = BigInt(value).toString(16);
  const bytes = BigInt(value) === 0n ? 0 : Math.ceil(text.length / 2);
  return uintBits(bytes, 4) + (bytes === 0 ? '' : uintBits(value, bytes * 8));
}

/** A standard address without anycast; the input is raw. */
export function addressBits(raw: string): string {
  const [workchain = '0', id = '0'] = raw.split(':');
  return `100${uintBits(Number(workchain), 8)}${uintBits(BigInt(`0x${id}`), 256)}`;
}

const BITS_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(2).padStart(8, '0'));

export function byteBits(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += BITS_OF_BYTE[byte] ?? '';
  return out;
}

/** Bytes in a chain of cells, which long texts need. */
export function snake(prefix: string, bytes: Uint8Array): Cell {
  const room = Math.floor((1016 - prefix.length) / 8);
  const rest = bytes.subarray(room);
  const refs = rest.length === 0 ? [] : [snake('', rest)];
  return cell(prefix + byteBits(bytes.subarray(0, room)), refs);
}
