/** As the server writes them, so that raw and escaped values are stored the same way. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Removes whitespace from JSON, and escapes raw control characters in strings. */
export function compactJson(text: string): string {
  let out = '';
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (!inString) {
      if (c === '"') inString = true;
      if (c !== ' ' && c !== '\n' && c !== '\r' && c !== '\t') out += c;
    } else if (c === '\\') {
      out += c + text.charAt(++i);
    } else {
      if (c === '"') inString = false;
      out += c < ' ' ? (SHORT_ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : c;
    }
  }
  return out;
}
