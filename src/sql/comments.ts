/** Pattern of a comment. In DuckDB, a carriage return ends a line as well. */
export const COMMENT = String.raw`--[^\r\n]*|\/\*(?:\/\*[\s\S]*?\*\/|[\s\S])*?\*\/`;

/** Removes leading blanks and comments, which can be nested. */
export function afterComments(text: string): string {
  const rest = text.trimStart();
  if (rest.startsWith('--')) return afterComments(rest.replace(/^--[^\r\n]*/, ''));
  if (!rest.startsWith('/*')) return rest;
  const end = endOfComment(rest, 0);
  return end === undefined ? '' : afterComments(rest.slice(end));
}

/** The end of the comment in which a text has its `/*` at `from`; undefined if it is still open. */
export function endOfComment(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(from).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return from + index + mark.length;
  }
  return undefined;
}
