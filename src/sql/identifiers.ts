/** Raw addresses, and hashes in base64 or hex. A number is never an identifier. */
const IDENTIFIER = /^(-?\d+:[0-9A-F]{64}|[A-Za-z0-9+/]{43}=|(?=.*[a-f])[0-9a-f]{32,})$/;

/** True if a text is an address or hash, which is shortened and can be copied. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}
