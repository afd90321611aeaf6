/** CRC-16/XMODEM, the checksum of user-friendly addresses. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** The 48-character base64url form of a raw address. */
export function friendlyAddress(raw: string, bounceable: boolean): string {
  const [workchain = '0', id = ''] = raw.split(':');
  const out = Buffer.alloc(36);
  out[0] = bounceable ? 0x11 : 0x51;
  out.writeInt8(Number(workchain), 1);
  out.write(id, 2, 'hex');
  out.writeUInt16BE(crc16(out.subarray(0, 34)), 34);
  return out.toString('base64url');
}

/** Raw upper-case form of a raw or user-friendly address; undefined if it is neither. */
export function parseAddress(text: string): string | undefined {
  const raw = /^(-?\d{1,3}):([0-9a-fA-F]{64})$/.exec(text);
  if (raw !== null) {
    const workchain = Number(raw[1]);
    return workchain < -128 || workchain > 127 ? undefined : `${workchain}:${(raw[2] ?? '').toUpperCase()}`;
  }
  if (!/^[A-Za-z0-9+/_-]{48}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 36 || crc16(bytes.subarray(0, 34)) !== bytes.readUInt16BE(34)) return undefined;
  return `${bytes.readInt8(1)}:${bytes.subarray(2, 34).toString('hex').toUpperCase()}`;
}

/** 32 bytes from 64 hex digits or 44 characters of base64; undefined if the text is neither. */
export function parseHash(text: string): Buffer | undefined {
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text);
  if (hex !== null) return Buffer.from(hex[1] ?? '', 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=$/.test(text)) return undefined;
  return Buffer.from(text, 'base64url');
}
