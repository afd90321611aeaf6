import { didYouMean } from '../core/did-you-mean.ts';
import { ReportError, UsageError } from '../core/errors.ts';
import type { Query } from '../sql/query-result.ts';
import { sqlFault } from '../sql/sql-fault.ts';
import { lineAt, parametersIn, parseSql, relationsIn } from '../sql/sql-tree.ts';
import type { ReportDef, SqlBlock } from './report-definition.ts';

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
  const parsed = await parseSql(query, block.sql);
  if ('fault' in parsed) throw badSql(sqlFault(new Error(parsed.fault)).text, path, fileLine(block, parsed.position));
  const { statements } = parsed;
  if (statements.length !== 1) throw badSql('expected one select, got several statements', path, block.line);
  const named = [...new Set(parametersIn(statements[0]))];
  const wrong = named.find((name) => !params.includes(name));
  if (wrong !== undefined) {
    const offset = Math.max(block.sql.indexOf(`$${wrong}`), 0);
    throw new UsageError(
      `usage: expected a declared parameter, got $${wrong} (${path}:${fileLine(block, Buffer.byteLength(block.sql.slice(0, offset)))})`,
      {
        code: 'bad-report',
        hint: `${didYouMean(
          `$${wrong}`,
          params.map((name) => `$${name}`),
        )}Otherwise declare it under params`,
      },
    );
  }
  return { relations: [...new Set(relationsIn(statements).map(({ name }) => name))], params: named };
}

/** What DuckDB says of a block, with the file and the line it means. `shift` is how many lines were put before the select. */
export function blockFault(error: unknown, path: string, block: SqlBlock, shift: number): ReportError {
  const { text, line } = sqlFault(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  return badSql(text, path, line === undefined ? block.line : block.line + line - shift, error);
}

function badSql(text: string, path: string, line: number, cause?: unknown): ReportError {
  return new ReportError(`report: ${text} (${path}:${line})`, {
    code: 'bad-sql',
    hint: 'tonlake describe shows tables and columns',
    cause,
  });
}

/** The line of the file on which a byte of the select stands. */
function fileLine({ sql, line }: SqlBlock, position: number): number {
  return line + lineAt(sql, position);
}
