const BYTES = 36;

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
