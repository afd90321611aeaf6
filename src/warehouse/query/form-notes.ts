import type { Registry } from '../../declare/registry.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Parameters } from '../../sql/parameters.ts';
import type { Query } from '../../sql/query-result.ts';
import { isNode, nodesOf, type SqlNode, treeOf } from '../../sql/sql-tree.ts';
import { selectWithin, splitStatements } from '../../sql/statements.ts';

const RAW_WITH_LOWER = /^(?=.*[a-f])-?\d{1,3}:[0-9A-Fa-f]{64}$/;
const FRIENDLY = /^[\w+/-]{48}$/;
const HEX_HASH = /^(0x)?[0-9A-Fa-f]{64}$/;

/** `account = raw_address('EQ...')`: comparisons that find nothing, because a column holds another form of an address or a hash. */
export async function formNotes(
  query: Query,
  registry: Registry,
  { sql, parameters }: { readonly sql: string; readonly parameters: Parameters },
): Promise<readonly string[]> {
  const kinds = new Map(
    registry.tables.flatMap(({ columns }) => columns.map(({ name, kind }) => [name, String(kind)])),
  );
  const notes = new Set<string>();
  for (const statement of splitStatements(sql)) {
    const nodes = nodesOf(await treeOf(query, selectWithin(statement).select));
    const computed = new Set(nodes.flatMap(({ alias }) => (typeof alias === 'string' ? [alias.toLowerCase()] : [])));
    for (const operands of nodes.map(comparedBy)) {
      const column = operands.flatMap(columnOf).find((name) => kinds.has(name) && !computed.has(name));
      if (column === undefined) continue;
      for (const { text, written } of operands.flatMap((operand) => textOf(operand, parameters))) {
        const right = rightForm(kinds.get(column), text, written);
        if (right !== undefined) notes.add(`${column} never equals ${written}: compare it with ${right}`);
      }
    }
  }
  return [...notes];
}

function comparedBy(node: SqlNode): readonly SqlNode[] {
  const type = String(node['type']);
  if (/^COMPARE_(NOT)?EQUAL$/.test(type)) return [node['left'], node['right']].filter(isNode);
  return /^COMPARE_(NOT_)?IN$/.test(type) && Array.isArray(node['children']) ? node['children'].filter(isNode) : [];
}

function columnOf(node: SqlNode): readonly string[] {
  const path = node['class'] === 'COLUMN_REF' ? node['column_names'] : undefined;
  return Array.isArray(path) ? [String(path.at(-1)).toLowerCase()] : [];
}

function textOf(node: SqlNode, parameters: Parameters): readonly { readonly text: string; readonly written: string }[] {
  const name = String(node['identifier']);
  const isParameter = node['class'] === 'PARAMETER';
  const text = isParameter ? parameters?.[name] : isNode(node['value']) ? node['value']['value'] : undefined;
  return typeof text === 'string' ? [{ text, written: isParameter ? `$${name}` : quoteText(text) }] : [];
}

function rightForm(kind: string | undefined, text: string, written: string): string | undefined {
  if (kind === 'raw-address' && (FRIENDLY.test(text) || RAW_WITH_LOWER.test(text))) return `raw_address(${written})`;
  return kind === 'base64-hash' && HEX_HASH.test(text) ? `base64_hash(${written})` : undefined;
}
