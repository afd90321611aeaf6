import { MartError } from '../errors.ts';
import { placeOf, sqlFault } from '../sqlfault.ts';
import type { Query } from '../store/store.ts';
import type { SqlFile } from './sqlfile.ts';

/** A relation that a select names. */
export interface Reference {
  readonly name: string;
  /** From 1. */
  readonly line: number;
}

/**
 * The relations that the one select of a file reads, each once, its own `WITH` names apart.
 * @throws {MartError} `bad-sql` with the line when it is no select, or more than one statement
 */
export async function readReferences(
  query: Query,
  { sql, path }: Pick<SqlFile, 'sql' | 'path'>,
): Promise<readonly Reference[]> {
  const { rows } = await query('SELECT json_serialize_sql($sql::VARCHAR)::VARCHAR', { sql });
  const tree: unknown = JSON.parse(String(rows[0]?.[0]));
  if (!isObject(tree) || tree['error'] === true) {
    const message = isObject(tree) ? String(tree['error_message']) : 'no select';
    const position = isObject(tree) ? Number(tree['position'] ?? 0) : 0;
    throw new MartError(`mart: ${message} (${path}:${lineAt(sql, position)})`, { code: 'bad-sql' });
  }
  const statements = Array.isArray(tree['statements']) ? tree['statements'] : [];
  if (statements.length !== 1) {
    throw new MartError(`mart: expected one select, got ${statements.length} (${path})`, { code: 'bad-sql' });
  }
  const found: { readonly name: string; readonly at: number }[] = [];
  const own = new Set<string>();
  visit(statements, found, own);
  const names = new Map<string, Reference>();
  for (const { name, at } of found.sort((a, b) => a.at - b.at)) {
    if (!own.has(name) && !names.has(name)) names.set(name, { name, line: lineAt(sql, at) });
  }
  return [...names.values()];
}

function visit(node: unknown, found: { name: string; at: number }[], own: Set<string>): void {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, found, own);
    return;
  }
  if (!isObject(node)) return;
  if (node['type'] === 'BASE_TABLE' && typeof node['table_name'] === 'string') {
    found.push({ name: node['table_name'], at: Number(node['query_location'] ?? 0) });
  }
  const withs = node['cte_map'];
  if (isObject(withs) && Array.isArray(withs['map'])) {
    for (const each of withs['map']) if (isObject(each)) own.add(String(each['key']));
  }
  for (const each of Object.values(node)) visit(each, found, own);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The line of a position in a text, from 1. DuckDB counts bytes. */
function lineAt(text: string, position: number): number {
  return Buffer.from(text).subarray(0, position).toString().split('\n').length;
}

/** DuckDB's message on one line, with the file and the line that it names. */
export function sqlError({ path }: Pick<SqlFile, 'path'>, error: unknown): MartError {
  const fault = sqlFault(error);
  return new MartError(`mart: ${fault.text} (${placeOf(path, fault)})`, {
    code: 'bad-sql',
    hint: 'tonlake describe shows tables and columns',
    cause: error,
  });
}

/** The same for a statement around the select of a file, whose lines are not those of the file. */
export function sqlErrorWithin(file: Pick<SqlFile, 'path'>, error: unknown): MartError {
  return sqlError(file, new Error(sqlFault(error).text));
}
