import { usage } from './errors.ts';

const BYTES = 36;
/** In the first byte of a user-friendly address. */
const FOR_TEST_NETWORKS = 0x80;

/** True for a valid address: raw, or user-friendly with any flags and a valid checksum. */
export function isAddress(text: string): boolean {
  const raw = /^(-?\d{1,3}):[0-9a-fA-F]{64}$/.exec(text);
  if (raw !== null) {
    const workchain = Number(raw[1]);
    return workchain >= -128 && workchain <= 127;
  }
  if (!/^[A-Za-z0-9+/_-]{48}$/.test(text)) return false;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === BYTES && crc16(bytes.subarray(0, BYTES - 2)) === bytes.readUInt16BE(BYTES - 2);
}

/**
 * Validates a text that looks like a user-friendly address. Accepts all other texts.
 *
 * @param network the network of the query; default: any
 * @throws {UsageError} for a wrong checksum, or on mainnet an address for test networks only
 */
export function requireSoundAddress(text: string, network?: string): void {
  if (!/^[EUk0](?=.*[A-Z])[\w+/-]{47}$/.test(text)) return;
  const raw = rawAddress(text);
  if (raw === undefined) throw usage('an address with its checksum', text, 'copy it again, or use its raw form');
  if (network === 'mainnet' && ((Buffer.from(text, 'base64url')[0] ?? 0) & FOR_TEST_NETWORKS) !== 0)
    throw usage(
      'an address of mainnet',
      `one for test networks only: ${text}`,
      `check --network; the same account on mainnet is ${raw}`,
    );
}

/** The raw form of an address in upper case, as in tables: `0:B113...`; undefined if invalid. */
export function rawAddress(text: string): string | undefined {
  if (!isAddress(text)) return undefined;
  if (text.includes(':')) return text.toUpperCase();
  const bytes = Buffer.from(text, 'base64url');
  return `${bytes.readInt8(1)}:${bytes
    .subarray(2, BYTES - 2)
    .toString('hex')
    .toUpperCase()}`;
}

/** True if a text is the user-friendly form of a raw address: with any flags, and a valid checksum. */
export function isFriendlyFormOf(text: string, raw: string): boolean {
  return !text.includes(':') && rawAddress(text) === rawAddress(raw);
}

/** A 32-byte hash in standard base64; undefined for anything else. */
export function base64Hash(text: string): string | undefined {
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
  if (hex !== undefined) return Buffer.from(hex, 'hex').toString('base64');
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64url').toString('base64') : undefined;
}

/** One text for all forms of an address, or of a hash: raw, or standard base64. Other texts stay as they are. */
export function canonicalText(text: string): string {
  return rawAddress(text) ?? base64Hash(text) ?? text;
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc;
}
