import { StoreError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { afterComments, piecesOf, unquoteName, WORD } from './pieces.ts';

/** Positions of the semicolons that end statements: those in quotes or comments do not. */
export function endsOfStatements(sql: string): readonly number[] {
  return [...piecesOf(sql, ';')].flatMap(({ text, from }) => (text === ';' ? [from] : []));
}

/** Splits a text into statements. */
export function splitStatements(sql: string): readonly string[] {
  const ends = endsOfStatements(sql);
  const statements = [...ends, sql.length].map((end, at) => sql.slice((ends[at - 1] ?? -1) + 1, end));
  return statements.filter((statement) => withoutComments(statement) !== '');
}

/** A statement without the semicolon at its end. */
export function withoutEnd(statement: string): string {
  return statement.replace(/[\s;]+$/, '');
}

/** @throws {UsageError} when a text holds no statement */
export function requireStatement(sql: string): void {
  if (splitStatements(sql).length > 0) return;
  const got = /^[\s;]*$/.test(sql) ? 'nothing' : 'comments alone';
  throw usage('a query', got, suggest('sql', '--help'));
}

/** The error for rows of a statement that is not the last one. */
export function severalResults(number: number, count: number): StoreError {
  return new StoreError(
    `store: query: expected rows from the last statement alone, got some from statement ${number} of ${count}`,
    { code: 'several-results', hint: 'run one query after the other; those before the last may SET, or CREATE TEMP' },
  );
}

/** The select inside a statement, and the temporary table, view or variable that the statement makes of it. */
export interface SelectWithin {
  readonly select: string;
  /** The name of a table or view is as it is written. */
  readonly creates: { readonly kind: 'table' | 'view' | 'variable'; readonly name: string } | undefined;
}

const NAME = `("(?:[^"]|"")+"|${WORD})`;
const VARIABLE = new RegExp(String.raw`^(?:re)?set\s+variable\s+${NAME}\s*(?:(?:=|\bto\b)([\s\S]*))?$`, 'iu');
const CREATE = new RegExp(
  String.raw`^create\s+(?:or\s+replace\s+)?temp(?:orary)?\s+(table|view)\s+(?:if\s+not\s+exists\s+)?${NAME}\s+as\s+`,
  'iu',
);

/** Unwraps `EXPLAIN`, `COPY (...) TO`, `SET VARIABLE`, `RESET VARIABLE` and `CREATE TEMP TABLE ... AS`; any other statement is treated as a select. */
export function selectWithin(statement: string): SelectWithin {
  const text = withoutComments(statement);
  const [explain] = /^explain(\s+analyze)?(\s*\([^)]*\))?\s+/i.exec(text) ?? [];
  if (explain !== undefined) return selectWithin(text.slice(explain.length));
  const [, copied] = /^copy\s*\(([\s\S]*)\)\s*to\b[\s\S]*$/i.exec(text) ?? [];
  if (copied !== undefined) return { select: copied, creates: undefined };
  const [, variable, value = 'NULL'] = VARIABLE.exec(text) ?? [];
  if (variable !== undefined)
    return { select: `SELECT ${value}`, creates: { kind: 'variable', name: unquoteName(variable) } };
  const [create, kind, name] = CREATE.exec(text) ?? [];
  if (create === undefined || name === undefined) return { select: text, creates: undefined };
  return {
    select: text.slice(create.length),
    creates: { kind: kind?.toLowerCase() === 'view' ? 'view' : 'table', name },
  };
}

/** Removes leading comments, and blanks at both ends. */
function withoutComments(statement: string): string {
  return afterComments(statement).trim();
}
