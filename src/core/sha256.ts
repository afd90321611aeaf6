import { createHash } from 'node:crypto';

/** SHA-256 of bytes, or of a text as UTF-8: all 64 hex digits, or the first of them. */
export function sha256Of(content: string | Uint8Array, digits = 64): string {
  return createHash('sha256').update(content).digest('hex').slice(0, digits);
}
