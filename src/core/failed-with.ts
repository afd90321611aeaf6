/** True if a call of the system, or of Node.js, failed with one of these codes. */
export function failedWith(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
