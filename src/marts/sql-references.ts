import { didYouMean } from '../core/did-you-mean.ts';
import { MartError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Query } from '../sql/query-result.ts';
import { placeOf, sqlFault } from '../sql/sql-fault.ts';
import type { SqlFile } from '../sql/sql-file.ts';
import { isNode, lineAt, nodesOf, parseSql, relationsIn, type SqlNode } from '../sql/sql-tree.ts';
import { inputsOfTon, TON } from '../sql/ton-views.ts';

/** A relation read by a select. */
export interface Reference {
  readonly name: string;
  /** From 1. */
  readonly line: number;
}

/**
 * The relations that the select of a file reads, each once, without its `WITH` names. Views of `ton` are replaced by their inputs.
 * @throws {MartError} with the line if it is not a single select
 */
export async function readReferences(
  query: Query,
  { sql, path }: Pick<SqlFile, 'sql' | 'path'>,
): Promise<readonly Reference[]> {
  const parsed = await parseSql(query, sql);
  if ('fault' in parsed) {
    throw new MartError(`mart: ${parsed.fault} (${path}:${lineAt(sql, parsed.position)})`);
  }
  const { statements } = parsed;
  if (statements.length !== 1) {
    throw new MartError(`mart: expected one select, got ${statements.length} (${path})`);
  }
  const own = new Set(nodesOf(statements).flatMap(withNames));
  const names = new Map<string, Reference>();
  for (const { schema, name, at } of relationsIn(statements).toSorted((a, b) => a.at - b.at)) {
    const read = schema.toLowerCase() === TON ? inputsOfTon(name) : own.has(name) ? [] : [name];
    for (const each of read) if (!names.has(each)) names.set(each, { name: each, line: lineAt(sql, at) });
  }
  return [...names.values()];
}

/** @throws {MartError} with the line of the first unknown name */
export function requireKnown(path: string, references: readonly Reference[], known: ReadonlySet<string>): void {
  const unknown = references.find(({ name }) => !known.has(name));
  if (unknown === undefined) return;
  throw new MartError(`mart: expected a table or a mart, got ${unknown.name} (${path}:${unknown.line})`, {
    hint: didYouMean(unknown.name, [...known]).trimEnd() || `${suggest('show')} lists all tables`,
  });
}

/** The `WITH` names that a node defines. */
function withNames({ cte_map: withs }: SqlNode): readonly string[] {
  if (!isNode(withs) || !Array.isArray(withs['map'])) return [];
  return withs['map'].filter(isNode).map(({ key }) => String(key));
}

/** DuckDB's message on one line, with file and line. */
export function sqlError({ path }: Pick<SqlFile, 'path'>, error: unknown): MartError {
  const fault = sqlFault(error);
  return new MartError(`mart: ${fault.text} (${placeOf(path, fault)})`, {
    hint: `${suggest('show')} shows tables and columns`,
    cause: error,
  });
}

/** As `sqlError`, without a line: the statement that failed contains the select of the file. */
export function sqlErrorWithin(file: Pick<SqlFile, 'path'>, error: unknown): MartError {
  return sqlError(file, new Error(sqlFault(error).text));
}
