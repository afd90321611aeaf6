import { type UsageError, usage } from '../core/errors.ts';
import { OUTSIDE_NAME, piecesOf, unquoteName, WORD } from './pieces.ts';

/** Values of parameters, by name. */
export type Parameters = Readonly<Record<string, unknown>> | undefined;

/** A `$name` of SQL text, outside of quotes and comments. */
export interface NamedParameter {
  readonly name: string;
  /** With the `$`. */
  readonly written: string;
  readonly from: number;
}

const PARAMETER = String.raw`${OUTSIDE_NAME}\$(?<name>${WORD}|\d+|"(?:[^"]|"")+")`;

export function parametersIn(sql: string): readonly NamedParameter[] {
  return [...piecesOf(sql, PARAMETER)].flatMap(({ text: written, from, groups: { name } }) =>
    name === undefined ? [] : [{ name: unquoteName(name), written, from }],
  );
}

/** The first parameter that is none of those known, and its line, from 1. */
export function unknownParameter(
  sql: string,
  known: readonly string[],
): { readonly written: string; readonly line: number } | undefined {
  const names = lowerCase(known);
  const unknown = parametersIn(sql).find(({ name }) => !names.has(name.toLowerCase()));
  return unknown && { written: unknown.written, line: sql.slice(0, unknown.from).split('\n').length };
}

/** DuckDB ignores the case of names. */
function lowerCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}

/** The values of parameters that a text names; undefined if it names none. */
export function usedParameters(sql: string, values: Parameters): Parameters {
  const names = lowerCase(parametersIn(sql).map(({ name }) => name));
  const used = Object.entries(values ?? {}).filter(([name]) => names.has(name.toLowerCase()));
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

/** As {@link usedParameters}. @throws {UsageError} for a value whose name the text does not have */
export function boundIn(sql: string, values: Parameters): Parameters {
  const used = usedParameters(sql, values);
  const unnamed = Object.keys(values ?? {}).find((name) => !Object.hasOwn(used ?? {}, name));
  if (unnamed !== undefined) throw unnamedParameter(unnamed);
  return used;
}

export function unnamedParameter(name: string): UsageError {
  return usage('a parameter of the query', name, `use $${name} in the query`);
}

/** The text with something else in place of each parameter. */
export function replaceParameters(sql: string, replace: (written: string) => string): string {
  const found = parametersIn(sql);
  const ends = [0, ...found.map(({ from, written }) => from + written.length)];
  return ends
    .map((end, at) => {
      const next = found[at];
      return `${sql.slice(end, next?.from)}${next === undefined ? '' : replace(next.written)}`;
    })
    .join('');
}
