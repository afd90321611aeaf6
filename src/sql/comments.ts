/** Pattern of a comment. In DuckDB, a carriage return ends a line as well. */
export const COMMENT = String.raw`--[^\r\n]*|\/\*(?:\/\*[\s\S]*?\*\/|[\s\S])*?\*\/`;

/** Removes leading blanks and comments, which can be nested. */
export function afterComments(text: string): string {
  const rest = text.trimStart();
  if (rest.startsWith('--')) return afterComments(rest.replace(/^--[^\r\n]*/, ''));
  if (!rest.startsWith('/*')) return rest;
  let depth = 0;
  for (const { 0: mark, index } of rest.matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return afterComments(rest.slice(index + mark.length));
  }
  return '';
}
