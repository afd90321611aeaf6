/** Characters that DuckDB reads as spaces, outside of quotes. All others that are not ASCII are letters. */
export const SPACE = String.raw`\t-\r \u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff`;
const LETTER = String.raw`(?:\w|[^\x00-\x7f${SPACE}])`;
/** A keyword, or a name without quotes. */
export const WORD = String.raw`(?!\d)${LETTER}+`;
/** Within a name, neither an `e` nor a `$` begins a text. */
export const OUTSIDE_NAME = String.raw`(?<!\$|${LETTER})`;
/** A text may continue in another line, after comments. Only for one with escapes does this change where it ends. */
const NEXT_LINE = String.raw`'(?![^\S\r\n]*')(?:[${SPACE}]|--[^\r\n]*(?=[\r\n]))+'`;

/** Quoted texts and identifiers, whole or still open; comments of a line, which a carriage return ends as well; the start of others. */
const QUOTED = [
  String.raw`${OUTSIDE_NAME}[eE]'(?:[^'\\]|''|\\[\s\S]?|${NEXT_LINE})*(?:'|$)`,
  String.raw`${OUTSIDE_NAME}\$(?<tag>(?!\d)[\w\P{ASCII}]*)\$[\s\S]*?(?:\$\k<tag>\$|$)`,
  `'(?:[^']|'')*(?:'|$)`,
  `"(?:[^"]|"")*(?:"|$)`,
  String.raw`(?<comment>--[^\r\n]*|\/\*)`,
].join('|');

/** A piece of SQL text. */
export interface Piece {
  readonly text: string;
  readonly from: number;
  /** Named groups of the pattern; `comment` is there if it is one. */
  readonly groups: Readonly<Record<string, string | undefined>>;
}

/**
 * Quoted texts, quoted identifiers and comments of SQL text, where DuckDB ends them, and what a pattern matches outside of them. An open one
 * ends with the text.
 */
export function* piecesOf(sql: string, pattern: string): Generator<Piece> {
  const pieces = new RegExp(`${QUOTED}|${pattern}`, 'gu');
  for (let found = pieces.exec(sql); found !== null; found = pieces.exec(sql)) {
    const { index: from, groups = {} } = found;
    if (found[0] === '/*') pieces.lastIndex = endOfComment(sql, from) ?? sql.length;
    yield { text: sql.slice(from, pieces.lastIndex), from, groups };
  }
}

/** The name that a word or a quoted identifier stands for. */
export function unquoteName(written: string): string {
  return written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
}

const SPACES = new RegExp(`^[${SPACE}]+`);

/** Removes leading blanks and comments, which can be nested. */
export function afterComments(text: string): string {
  const rest = text.replace(SPACES, '');
  if (rest.startsWith('--')) return afterComments(rest.replace(/^--[^\r\n]*/, ''));
  if (!rest.startsWith('/*')) return rest;
  const end = endOfComment(rest, 0);
  return end === undefined ? '' : afterComments(rest.slice(end));
}

/** The end of the comment in which a text has its `/*` at `from`; undefined if it is still open. */
function endOfComment(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(from).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return from + index + mark.length;
  }
  return undefined;
}
