import { piecesOf, SPACE, WORD } from './pieces.ts';

/** A piece of SQL text. */
export interface Token {
  readonly text: string;
  readonly kind: 'word' | 'space' | 'other';
}

const TOKEN = [
  `(?<word>${WORD})`,
  `(?<space>[${SPACE}]+)`,
  '0[xX][0-9a-fA-F]+',
  String.raw`\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?`,
  String.raw`->|<>|[<>!]=|\|\||::|\{\{|[\s\S]`,
].join('|');

export function tokensOf(sql: string): readonly Token[] {
  return [...piecesOf(sql, TOKEN)].map(({ text, groups }) => {
    if (groups['word'] !== undefined) return { text, kind: 'word' };
    return { text, kind: (groups['space'] ?? groups['comment']) === undefined ? 'other' : 'space' };
  });
}

export function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('');
}

/** Position of the first token from `at` on that is not space. */
export function skipSpace(tokens: readonly Token[], at: number): number {
  let next = at;
  while (tokens[next]?.kind === 'space') next++;
  return next;
}

/** Position of the bracket that closes the one at `at`; undefined if none does. */
export function closingOf(tokens: readonly Token[], at: number): number | undefined {
  let depth = 0;
  for (let next = at; next < tokens.length; next++) {
    depth += depthOf(tokens[next]);
    if (depth === 0) return next;
  }
  return undefined;
}

/** The tokens between commas outside of brackets. */
export function splitAtCommas(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    depth += depthOf(token);
    if (token.text === ',' && depth === 0) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** The tokens before and after a word outside of brackets; nothing after it if it is not there. */
export function splitAtWord(
  tokens: readonly Token[],
  word: string,
): readonly [before: readonly Token[], after: readonly Token[] | undefined] {
  let depth = 0;
  const at = tokens.findIndex((token) => {
    depth += depthOf(token);
    return depth === 0 && token.kind === 'word' && token.text.toLowerCase() === word;
  });
  return at < 0 ? [tokens, undefined] : [tokens.slice(0, at), tokens.slice(at + 1)];
}

/** 1 for a bracket that opens, -1 for one that closes, otherwise 0. */
export function depthOf(token: Token | undefined): number {
  if (token === undefined) return 0;
  if (['(', '[', '{'].includes(token.text)) return 1;
  return [')', ']', '}'].includes(token.text) ? -1 : 0;
}
