import { type UsageError, usage } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { ScalarFunction } from '../sql/database.ts';
import { closingOf, depthOf, skipSpace, splitAtCommas, type Token, textOf, tokensOf } from '../sql/tokens.ts';
import { type BodyFunction, bodyFunctions, fixedFunction, layoutFunction } from './body-functions.ts';
import { type Fields, parseLayout } from './layout.ts';
import { namedLayouts } from './layouts.ts';

export interface BodyCalls {
  /** The query with a separate function for each layout. */
  readonly sql: string;
  readonly functions: readonly ScalarFunction[];
}

/**
 * The functions over bodies that a query calls. `parse_boc(body, 'layout')` becomes a function for that layout, because DuckDB must know
 * the type of a function before it runs; `decode_body` becomes one for all layouts.
 *
 * @param own the user's file of layouts
 * @throws {UsageError}
 */
export function bodyCallsIn(sql: string, own?: string): BodyCalls {
  const functions = new Map<string, ScalarFunction>();
  const layouts = namedLayouts(own);
  const fieldsOf = (text: string): Fields => {
    const named = layouts.get(text.trim());
    if (named !== undefined) return named.fields;
    if (/^\s*\w+\s*$/.test(text)) throw unknownLayout(text.trim(), [...layouts.keys()]);
    return parseLayout(text);
  };
  const rewrite = (tokens: readonly Token[]): string => {
    const out: string[] = [];
    for (let at = 0; at < tokens.length; at++) {
      const { text = '', kind } = tokens[at] ?? {};
      const name = text.toLowerCase();
      const open = skipSpace(tokens, at + 1);
      const end = kind === 'word' && tokens[open]?.text === '(' ? closingOf(tokens, open) : undefined;
      if (end !== undefined && isBodyFunction(name)) {
        const functionName = name === 'decode_body' ? `_${name}_${stampOf([...layouts.values()])}` : name;
        functions.set(functionName, fixedFunction(name, functionName, layouts));
        out.push(functionName);
        continue;
      }
      if (end === undefined || !/^parse_boc(_or_error)?$/.test(name)) {
        out.push(text);
        continue;
      }
      const [body = [], layout] = splitAtCommas(tokens.slice(open + 1, end));
      const literal = /^\s*'((?:[^']|'')*)'\s*$/.exec(textOf(layout ?? []))?.[1];
      if (literal === undefined) throw notLiteral(name);
      const hasReason = name === 'parse_boc_or_error';
      const fields = fieldsOf(literal.replaceAll("''", "'"));
      const functionName = `_boc_${stampOf([hasReason, fields])}`;
      functions.set(functionName, layoutFunction(functionName, fields, hasReason));
      out.push(`${functionName}(${rewrite(body)})`);
      at = end;
    }
    return out.join('');
  };
  return { sql: rewriteNamed(tokensOf(sql), rewrite), functions: [...functions.values()] };
}

/** Words that end the items of a select. */
const AFTER_ITEMS = /^(from|where|group|having|window|qualify|order|limit|offset|union|intersect|except|;)$/;

/**
 * Rewrites a query. Where an item of its outermost selects has no name and is rewritten, its text becomes its name, so that results do not
 * show the names of the separate functions.
 */
function rewriteNamed(tokens: readonly Token[], rewrite: (tokens: readonly Token[]) => string): string {
  const out: string[] = [];
  for (let at = 0; at < tokens.length; ) {
    const first = Math.min(tokens.length, positionOf(tokens, at, (text) => text === 'select') + 1);
    const end = positionOf(
      tokens,
      first,
      // `IS DISTINCT FROM`, and names after a point or of a type.
      (text, before) => AFTER_ITEMS.test(text) && !['distinct', '.', '::'].includes(before),
    );
    const items = splitAtCommas(tokens.slice(first, end)).map((item) => named(item, rewrite(item)));
    out.push(rewrite(tokens.slice(at, first)), items.join(','));
    at = end;
  }
  return out.join('');
}

/** Position of the first token outside of brackets that meets a condition; the number of tokens if none does. */
function positionOf(tokens: readonly Token[], from: number, meets: (text: string, before: string) => boolean): number {
  let before = '';
  for (let at = from; at < tokens.length; at++) {
    const { text = '', kind } = tokens[at] ?? {};
    if (kind === 'space') continue;
    if (meets(text.toLowerCase(), before)) return at;
    before = text.toLowerCase();
    if (depthOf(tokens[at]) > 0) at = closingOf(tokens, at) ?? tokens.length;
  }
  return tokens.length;
}

/** A rewritten item of a select, with its own text as name if it has none. */
function named(item: readonly Token[], rewritten: string): string {
  if (rewritten === textOf(item)) return rewritten;
  let first = skipSpace(item, 0);
  if (/^(distinct|all)$/i.test(item[first]?.text ?? '')) first = skipSpace(item, first + 1);
  // A comment or space may follow.
  const last = item.findLastIndex(({ kind }) => kind !== 'space');
  const own = item.slice(first, last + 1);
  if (hasName(own.filter(({ kind }) => kind !== 'space'))) return rewritten;
  const after = textOf(item.slice(last + 1));
  const name = own.map(({ kind, text }) => (kind === 'space' ? ' ' : text)).join('');
  return `${rewritten.slice(0, rewritten.length - after.length)} AS ${quoteName(name)}${after}`;
}

/** Operators, and words, after which an expression goes on. */
const INFIX =
  /^([-+*/%^&|~@!<>=:].*|\.|and|or|not|in|is|like|ilike|glob|similar|to|between|from|escape|collate|then|else|zone|over)$/;

/** True if an item of a select, given without its spaces, has a name, or stands for several columns. */
function hasName(item: readonly Token[]): boolean {
  const texts = item.map(({ text }) => text.toLowerCase());
  const [start = '', second] = texts;
  const [before = '', last = ''] = texts.slice(-2);
  if (/^(\*|columns|unnest|on)$/.test(start) || second === ':' || (second === '.' && texts[2] === '*')) return true;
  if (before === 'as' || last === '*') return true;
  if (INFIX.test(before)) return false;
  const isName = item.at(-1)?.kind === 'word' && !/^(end|null|true|false|isnull|notnull)$/.test(last);
  return last.startsWith('"') || isName;
}

function isBodyFunction(name: string): name is BodyFunction {
  return Object.hasOwn(bodyFunctions, name);
}

/** Part of the function's name: an open database cannot redefine a function, and marts are rebuilt when a name changes. */
function stampOf(layouts: unknown): string {
  const plain = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
  return sha256Of(JSON.stringify(layouts, plain), 16);
}

function notLiteral(name: string): UsageError {
  return usage(
    'a layout as text',
    `none in ${name}`,
    `${name}(body_boc, 'op uint32, query_id uint64'), or the name of a layout: ${name}(body_boc, 'jetton_transfer')`,
  );
}

function unknownLayout(name: string, known: readonly string[]): UsageError {
  return usage('the name of a layout or its fields', name, `layouts: ${known.join(', ')}`);
}
