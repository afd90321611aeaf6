import type { Query } from './query-result.ts';

/** The trees of selects parsed by DuckDB, or why it cannot parse them. */
export type ParsedSql =
  | { readonly statements: readonly unknown[] }
  /** `position` counts bytes from the start of the text. */
  | { readonly fault: string; readonly position: number };

/** Cache of the last trees: each query is analyzed several times. A tree depends only on its text. */
const parsedTexts = new Map<string, ParsedSql>();
const CACHED_TEXTS = 8;
/** Longer texts are not cached: a tree is many times as large. */
const MAX_CACHED_LENGTH = 20_000;

/** Parses selects without running them; DuckDB does not serialize other statements. */
export async function parseSql(query: Query, sql: string): Promise<ParsedSql> {
  const cached = parsedTexts.get(sql);
  if (cached !== undefined) return cached;
  const parsed = await serialize(query, sql);
  if (sql.length <= MAX_CACHED_LENGTH) parsedTexts.set(sql, parsed);
  for (const oldest of parsedTexts.keys()) if (parsedTexts.size > CACHED_TEXTS) parsedTexts.delete(oldest);
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

/** The tree of a select; undefined for any other statement. */
export async function treeOf(query: Query, select: string): Promise<SqlNode | undefined> {
  const parsed = await parseSql(query, select).catch(() => undefined);
  if (parsed === undefined || 'fault' in parsed) return undefined;
  const [statement] = parsed.statements;
  const node = isNode(statement) ? statement['node'] : undefined;
  return isNode(node) ? node : undefined;
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

/** The line of a byte offset, from 1. */
export function lineAt(text: string, position: number): number {
  return Buffer.from(text).subarray(0, position).toString().split('\n').length;
}

export function isNode(value: unknown): value is SqlNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
