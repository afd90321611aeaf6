import { UsageError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import type { ScalarFunction } from '../sql/database.ts';
import { closingOf, skipSpace, splitAtCommas, type Token, textOf, tokensOf } from '../sql/tokens.ts';
import { bodyFunctions, fixedFunctions, layoutFunction } from './body-functions.ts';
import { type Fields, parseLayout } from './layout.ts';
import { namedLayouts } from './layouts.ts';

export interface BodyCalls {
  /** The query with a function of its own for each layout. */
  readonly sql: string;
  readonly functions: readonly ScalarFunction[];
}

/**
 * The functions over bodies that a query calls. `parse_boc(body, 'layout')` becomes a function for that layout, because DuckDB must know
 * the type of a function before it runs.
 *
 * @param own file with layouts of the user's
 * @throws {UsageError} `bad-layout`
 */
export function bodyCallsIn(sql: string, own?: string): BodyCalls {
  const functions = new Map<string, ScalarFunction>();
  const fixed = new Set<string>();
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
      if (end !== undefined && Object.hasOwn(bodyFunctions, name)) fixed.add(name);
      if (end === undefined || !/^parse_boc(_or_error)?$/.test(name)) {
        out.push(text);
        continue;
      }
      const [body = [], layout] = splitAtCommas(tokens.slice(open + 1, end));
      const literal = /^\s*'((?:[^']|'')*)'\s*$/.exec(textOf(layout ?? []))?.[1];
      if (literal === undefined) throw notLiteral(name);
      const told = name === 'parse_boc_or_error';
      const made = `_boc_${sha256Of(`${told} ${literal}`, 16)}`;
      functions.set(made, layoutFunction(made, fieldsOf(literal.replaceAll("''", "'")), told));
      out.push(`${made}(${rewrite(body)})`);
      at = end;
    }
    return out.join('');
  };
  const rewritten = rewrite(tokensOf(sql));
  return { sql: rewritten, functions: [...fixedFunctions([...fixed], layouts), ...functions.values()] };
}

function notLiteral(name: string): UsageError {
  return new UsageError(`usage: expected a layout as text, got none in ${name}`, {
    code: 'bad-layout',
    hint: `${name}(body_boc, 'op uint32, query_id uint64'), or the name of a layout: ${name}(body_boc, 'jetton_transfer')`,
  });
}

function unknownLayout(name: string, known: readonly string[]): UsageError {
  return new UsageError(`usage: expected the name of a layout or its fields, got ${name}`, {
    code: 'bad-layout',
    hint: `layouts: ${known.join(', ')}`,
  });
}
