import { didYouMean } from '../core/did-you-mean.ts';
import { ReportError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { unknownParameter } from '../sql/parameters.ts';
import type { Query } from '../sql/query-result.ts';
import { sqlFault } from '../sql/sql-fault.ts';
import { lineAt, parseSql, relationsIn } from '../sql/sql-tree.ts';
import type { ReportDef, SqlBlock } from './report-definition.ts';

/**
 * Analyses a block without running it.
 * @param params known parameter names
 * @returns the relations that it reads
 * @throws {ReportError} if it is not a single select; {UsageError} for an unknown parameter
 */
export async function analyseBlock(
  query: Query,
  { path }: ReportDef,
  block: SqlBlock,
  params: readonly string[],
): Promise<readonly string[]> {
  const parsed = await parseSql(query, block.sql);
  if ('fault' in parsed) throw badSql(sqlFault(new Error(parsed.fault)).text, path, fileLine(block, parsed.position));
  const { statements } = parsed;
  if (statements.length !== 1) throw badSql('expected one select, got several statements', path, block.line);
  const wrong = unknownParameter(block.sql, params);
  if (wrong !== undefined) {
    throw usage(
      'a declared parameter',
      `${wrong.written} (${path}:${block.line + wrong.line})`,
      `${didYouMean(
        wrong.written,
        params.map((name) => `$${name}`),
      )}Otherwise declare it under params`,
    );
  }
  return [...new Set(relationsIn(statements).map(({ name }) => name))];
}

/** DuckDB's message about a block after one line of `CREATE`, with file and line. */
export function blockFault(error: unknown, path: string, block: SqlBlock): ReportError {
  const { text, line } = sqlFault(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  return badSql(text, path, line === undefined ? block.line : block.line + line - 1, error);
}

function badSql(text: string, path: string, line: number, cause?: unknown): ReportError {
  return new ReportError(`report: ${text} (${path}:${line})`, {
    hint: `${suggest('show')} shows tables and columns`,
    cause,
  });
}

/** The line in the file of a byte offset in the select. */
function fileLine({ sql, line }: SqlBlock, position: number): number {
  return line + lineAt(sql, position);
}
