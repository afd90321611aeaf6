/** A part of a URL without percent-encoding; unchanged if a percent sign in it escapes nothing, as in a password that was typed as it is. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
