import type { Query } from './query-result.ts';

/** The trees of selects parsed by DuckDB, or why it cannot parse them. */
export type ParsedSql =
  | { readonly statements: readonly unknown[] }
  /** `position` counts bytes from the start of the text. */
  | { readonly fault: string; readonly position: number };

/** Trees of the last texts: several questions are asked about each query. A tree depends on nothing but its text. */
const parsedTexts = new Map<string, ParsedSql>();
const KEPT_TEXTS = 8;
/** Longer texts are not kept: a tree is many times as large. */
const MAX_KEPT_LENGTH = 20_000;

/** Parses selects without running them; DuckDB does not serialize other statements. */
export async function parseSql(query: Query, sql: string): Promise<ParsedSql> {
  const kept = parsedTexts.get(sql);
  if (kept !== undefined) return kept;
  const parsed = await serialize(query, sql);
  if (sql.length <= MAX_KEPT_LENGTH) parsedTexts.set(sql, parsed);
  for (const oldest of parsedTexts.keys()) if (parsedTexts.size > KEPT_TEXTS) parsedTexts.delete(oldest);
  return parsed;
}

async function serialize(query: Query, sql: string): Promise<ParsedSql> {
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

/** A relation that a tree names. */
export interface NamedRelation {
  /** Empty if only the relation is named. */
  readonly schema: string;
  readonly name: string;
  /** Byte offset. */
  readonly at: number;
}

/** The relations named in a tree, in tree order; including `WITH` names. */
export function relationsIn(tree: unknown): readonly NamedRelation[] {
  return nodesOf(tree).flatMap(({ type, schema_name: schema, table_name: name, query_location: at }) =>
    type === 'BASE_TABLE' && typeof name === 'string'
      ? [{ schema: String(schema ?? ''), name, at: Number(at ?? 0) }]
      : [],
  );
}

/** Columns named in a tree. */
export interface NamedColumns {
  /** In lower case. */
  readonly names: ReadonlySet<string>;
  /** True if a star, a pattern or a whole row stands for further columns. */
  readonly hasStar: boolean;
}

export function columnsIn(tree: unknown): NamedColumns {
  const names = new Set<string>();
  const single = new Set<string>();
  const rows = new Set<string>();
  let hasStar = false;
  for (const node of nodesOf(tree)) {
    if (node['class'] === 'STAR') hasStar = true;
    if (node['type'] === 'BASE_TABLE') {
      for (const name of [node['table_name'], node['alias']]) rows.add(String(name ?? '').toLowerCase());
    }
    const path = textsIn(node['column_names']);
    // In `t.column.field` any part may be the column; a table name alone stands for the whole row.
    for (const name of path) names.add(name);
    if (path.length === 1) single.add(path[0] ?? '');
    for (const name of textsIn(node['using_columns'])) names.add(name);
  }
  return { names, hasStar: hasStar || [...single].some((name) => name !== '' && rows.has(name)) };
}

function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.map((text) => String(text).toLowerCase()) : [];
}

/** The parameters of a statement, without `$`; unnamed ones as numbers. */
export function parametersIn(statement: unknown): readonly string[] {
  const node = isNode(statement) && isNode(statement['node']) ? statement['node'] : {};
  const map = node['named_param_map'] ?? (isNode(statement) ? statement['named_param_map'] : undefined);
  return Array.isArray(map) ? map.filter(isNode).map(({ key }) => String(key)) : [];
}

/** The line of a byte offset, from 1. */
export function lineAt(text: string, position: number): number {
  return Buffer.from(text).subarray(0, position).toString().split('\n').length;
}

export function isNode(value: unknown): value is SqlNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
