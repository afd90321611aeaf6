import type { Query } from './store/store.ts';

/** What DuckDB makes of a text: the trees of its selects, or why it cannot read it. */
export type ParsedSql =
  | { readonly statements: readonly unknown[] }
  /** `position` counts bytes from the start of the text. */
  | { readonly fault: string; readonly position: number };

/** Reads selects without running them; DuckDB serializes nothing else. */
export async function parseSql(query: Query, sql: string): Promise<ParsedSql> {
  const { rows } = await query('SELECT json_serialize_sql($sql::VARCHAR)::VARCHAR', { sql });
  const tree: unknown = JSON.parse(String(rows[0]?.[0]));
  if (!isNode(tree) || tree['error'] === true) {
    const { error_message: fault = 'no select', position = 0 } = isNode(tree) ? tree : {};
    return { fault: String(fault), position: Number(position) };
  }
  return { statements: Array.isArray(tree['statements']) ? tree['statements'] : [] };
}

/** An object of a tree. */
export type SqlNode = Readonly<Record<string, unknown>>;

/** All objects of a tree, each before those inside it. */
export function nodesOf(tree: unknown): readonly SqlNode[] {
  if (Array.isArray(tree)) return tree.flatMap(nodesOf);
  return isNode(tree) ? [tree, ...Object.values(tree).flatMap(nodesOf)] : [];
}

/** The relations that a tree names, in the order of the tree, with the byte at which each stands; `WITH` names are among them. */
export function relationsIn(tree: unknown): readonly { readonly name: string; readonly at: number }[] {
  return nodesOf(tree).flatMap(({ type, table_name: name, query_location: at }) =>
    type === 'BASE_TABLE' && typeof name === 'string' ? [{ name, at: Number(at ?? 0) }] : [],
  );
}

/** The parameters that a statement names, without `$`; a number for one without a name. */
export function parametersIn(statement: unknown): readonly string[] {
  const node = isNode(statement) && isNode(statement['node']) ? statement['node'] : {};
  const map = node['named_param_map'] ?? (isNode(statement) ? statement['named_param_map'] : undefined);
  return Array.isArray(map) ? map.filter(isNode).map(({ key }) => String(key)) : [];
}

/** The line of a byte of a text, from 1. */
export function lineAt(text: string, position: number): number {
  return Buffer.from(text).subarray(0, position).toString().split('\n').length;
}

export function isNode(value: unknown): value is SqlNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
