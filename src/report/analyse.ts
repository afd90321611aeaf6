import { ReportError, UsageError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Query } from '../store/store.ts';
import type { ReportDef, SqlBlock } from './definition.ts';

/** What a select names. */
export interface Analysis {
  readonly relations: readonly string[];
  readonly params: readonly string[];
}

/**
 * Reads a block without running it.
 * @param params names that may be bound
 * @throws {ReportError} `bad-sql` when it is not one select; {UsageError} `bad-report` when it names an unknown parameter
 */
export async function analyseBlock(
  query: Query,
  { path }: ReportDef,
  block: SqlBlock,
  params: readonly string[],
): Promise<Analysis> {
  const { rows } = await query('SELECT json_serialize_sql($sql::VARCHAR)::VARCHAR', { sql: block.sql });
  const tree: unknown = JSON.parse(String(rows[0]?.[0]));
  if (field(tree, 'error') === true) {
    throw badSql(String(field(tree, 'error_message')), path, lineAt(block, Number(field(tree, 'position') ?? 0)));
  }
  const statements = field(tree, 'statements');
  if (!Array.isArray(statements) || statements.length !== 1) {
    throw badSql('expected one select, got several statements', path, block.line);
  }
  const named = [...new Set(paramNames(statements[0]))];
  const wrong = named.find((name) => !params.includes(name));
  if (wrong !== undefined) {
    const offset = Math.max(block.sql.indexOf(`$${wrong}`), 0);
    throw new UsageError(
      `usage: expected a declared parameter, got $${wrong} (${path}:${lineAt(block, Buffer.byteLength(block.sql.slice(0, offset)))})`,
      { code: 'bad-report', hint: `did you mean $${nearest(wrong, params)}? Otherwise declare it under params` },
    );
  }
  return { relations: [...new Set(tableNames(statements))], params: named };
}

/** What DuckDB says of a block, with the file and the line it means. `shift` is how many lines were put before the select. */
export function sqlFault(error: unknown, path: string, block: SqlBlock, shift: number): ReportError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const [, line] = /\bLINE (\d+):/.exec(message) ?? [];
  return badSql(message, path, line === undefined ? block.line : block.line + Number(line) - shift, error);
}

function badSql(message: string, path: string, line: number, cause?: unknown): ReportError {
  const [first = ''] = message.split(/\s*\bLINE \d+:/);
  return new ReportError(`report: ${first.replace(/\s+/g, ' ').trim()} (${path}:${line})`, {
    code: 'bad-sql',
    hint: 'tonlake describe shows tables and columns',
    cause,
  });
}

/** The line of the file on which a position of the select stands. DuckDB counts bytes. */
function lineAt({ sql, line }: SqlBlock, position: number): number {
  return line + Buffer.from(sql).subarray(0, position).toString().split('\n').length;
}

function paramNames(node: unknown): readonly string[] {
  const map = field(field(node, 'node'), 'named_param_map') ?? field(node, 'named_param_map');
  return Array.isArray(map) ? map.map((entry) => String(field(entry, 'key'))) : [];
}

function tableNames(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(tableNames);
  if (typeof node !== 'object' || node === null) return [];
  const own = field(node, 'type') === 'BASE_TABLE' ? [String(field(node, 'table_name'))] : [];
  return [...own, ...Object.values(node).flatMap(tableNames)];
}

function field(of: unknown, key: string): unknown {
  if (typeof of !== 'object' || of === null) return undefined;
  return Object.entries(of).find(([name]) => name === key)?.[1];
}
