import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { usage } from '../../core/errors.ts';
import { failedWith } from '../../core/failed-with.ts';
import { isLocalPath } from '../../files/local-path.ts';
import { splitStatements } from '../../sql/statements.ts';
import { closingOf, type Token, textOf, tokensOf } from '../../sql/tokens.ts';

/**
 * Requires that COPY and EXPORT DATABASE write outside of a warehouse, whose files they would replace.
 *
 * @throws {UsageError} when the path is not written as a text
 */
export async function requireCopiesOutside(warehouse: string, sql: string): Promise<void> {
  if (!/\b(copy|export)\b/i.test(sql)) return;
  for (const target of splitStatements(sql).map(targetOf)) {
    if (target === undefined) continue;
    const path = pathIn(target);
    if (path === undefined) {
      throw usage('a path in quotes after TO', textOf(target), "COPY (SELECT ...) TO 'result.parquet'");
    }
    await requireOutside(warehouse, path);
  }
}

/** Requires that a result is written outside of a warehouse. @throws {UsageError} */
export async function requireOutside(warehouse: string, path: string): Promise<void> {
  if (!(await overlaps(warehouse, path))) return;
  throw usage(
    'a path outside of the warehouse',
    path,
    'choose another folder: files of a warehouse are never replaced by queries',
  );
}

/** The tokens that say where a statement writes; undefined unless it is a COPY TO or an EXPORT. */
function targetOf(statement: string): readonly Token[] | undefined {
  const tokens = outside(tokensOf(statement).filter(({ kind }) => kind !== 'space'));
  const words = tokens.map(({ kind, text }) => (kind === 'word' ? text.toLowerCase() : ''));
  const first = words[0] === 'explain' || words[0] === 'prepare' ? words.findIndex(isWriting) : 0;
  const verb = words[first] ?? '';
  if (!isWriting(verb)) return undefined;
  const to = words.indexOf('to', first);
  if (to < 0 && verb === 'copy') return undefined;
  const from = to < 0 ? first + 2 : to + 1;
  const end = tokens.findIndex(({ text }, at) => at > from && (text === '(' || text === ';' || words[at] === 'with'));
  return tokens.slice(from, end < 0 ? undefined : end);
}

function isWriting(word: string): boolean {
  return word === 'copy' || word === 'export';
}

/** The tokens without what stands in brackets; the opening ones stay. */
function outside(tokens: readonly Token[]): readonly Token[] {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token !== undefined) kept.push(token);
    if (token?.text === '(') at = closingOf(tokens, at) ?? tokens.length;
  }
  return kept;
}

/** The path that tokens spell; undefined if DuckDB would compute it. */
function pathIn(target: readonly Token[]): string | undefined {
  const text = textOf(target);
  const [token] = target;
  const [quote = ''] = text;
  if (target.length === 1 && token !== undefined && (quote === "'" || quote === '"'))
    return text.slice(1, -1).replaceAll(quote + quote, quote);
  return /^\w+(\.\w+)*$/.test(text) ? text : undefined;
}

/** True if a path is a warehouse, or in it, or around it. */
async function overlaps(warehouse: string, path: string): Promise<boolean> {
  const local = path.replace(/^file:(\/\/(localhost)?)?(?=\/)/i, '').replace(/^~(?=\/|$)/, homedir());
  if (isLocalPath(warehouse) !== isLocalPath(local)) return false;
  const [own, target] = isLocalPath(local) ? [await realOf(warehouse), await realOf(local)] : [warehouse, local];
  const within = (inner: string, outer: string) =>
    `${inner}${sep}`.startsWith(outer.endsWith(sep) ? outer : outer + sep);
  return within(target, own) || within(own, target) || target === `${own}.wal`;
}

/** A path without links, whether or not it exists. */
async function realOf(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch (cause) {
    if (!failedWith(cause, 'ENOENT', 'ENOTDIR') || dirname(whole) === whole) throw cause;
    return join(await realOf(dirname(whole)), basename(whole));
  }
}
