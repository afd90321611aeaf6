/** Raw addresses and hashes, in base64 or hex. A number is none, however many digits it has. */
const IDENTIFIER = /^(-?\d+:[0-9A-F]{64}|[A-Za-z0-9+/]{43}=|(?=.*[a-f])[0-9a-f]{32,})$/;

/** Whether a text is a name that nobody reads to its end, and many want to copy. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}
