const LONGEST = 200;
const MAX_READ = 65_536;

/** The message in an error response: that of the API or gateway, the text of an HTML page, or the body. */
export function readServerText(body: Buffer): string {
  const text = body.subarray(0, MAX_READ).toString('utf8');
  const record = parseObject(text);
  for (const key of ['error', 'result', 'message']) {
    const value = record?.[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  if (!looksLikeHtml(body)) return text;
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1];
  return title ?? text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
}

/** True for an error of the API itself: `{"error": "..."}`. */
export function isApiError(body: Buffer): boolean {
  return typeof parseObject(body.subarray(0, MAX_READ).toString('utf8'))?.['error'] === 'string';
}

/** True if the first character after whitespace opens a tag. */
export function looksLikeHtml(body: Buffer): boolean {
  return body.subarray(0, 256).toString('latin1').replace(/^ï»¿/, '').trimStart().startsWith('<');
}

/** Server text for a message: one line, without key and control characters, at most 200 characters. */
export function quoteText(text: string, redact: (text: string) => string): string {
  const line = redact(text)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 3)}...`;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // The caller checks the values.
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
