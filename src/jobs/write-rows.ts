import { StoreError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { guarded } from '../files/file-failure.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { writeRelation } from '../sql/relation-writer.ts';
import { sqlFault } from '../sql/sql-fault.ts';
import { openReader } from '../warehouse/index.ts';
import { findGaps } from '../warehouse/query/open-warehouse.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import type { PlacedQuery } from './job.ts';
import type { RowsOutcome, RowsRequest } from './job-actions.ts';

/**
 * Writes the rows of a table or a select to a file, without keeping them in memory.
 *
 * @throws {StoreError} if the select is wrong or the file cannot be written
 */
export async function writeRows(path: string, to: string, request: RowsRequest): Promise<RowsOutcome> {
  const { source, format, network, parameters } = request;
  const registry = await warehouseRegistry(path);
  const reader = await openReader(path, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, network);
    const select = 'table' in source ? selectTable(registry, source.table) : source.sql;
    const gaps = await findGaps(reader, registry, { sql: select, parameters });
    const selection = { sql: select, parameters: boundIn(select, parameters) };
    const rows = await guarded(`file ${to}`, () => writeRelation(reader, selection, { file: to, format })).catch(
      (error: unknown) => {
        throw 'table' in source ? error : withPlace(error, source);
      },
    );
    return { rows, gaps };
  } finally {
    await reader.close();
  }
}

/** The values that a select uses. */
export function boundIn(
  select: string,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const used = Object.entries(values).filter(([name]) => new RegExp(`\\$${name}\\b`).test(select));
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

/** DuckDB's message about a query, and the line of the file. */
export function faultIn(
  error: unknown,
  { sql, lines }: PlacedQuery,
): { readonly text: string; readonly place: string } {
  const { text, line = 1 } = sqlFault(error);
  // For a text that ends too early, DuckDB reports a line after its end.
  const at = lines.isFolded ? 1 : Math.min(Math.max(line, 1), sql.split('\n').length);
  return { text: text.replace(/^Failed to extract statements: /, ''), place: `${lines.file}:${lines.line + at - 1}` };
}

function withPlace(error: unknown, query: PlacedQuery): unknown {
  if (!(error instanceof StoreError) || error.code !== 'failed') return error;
  const { text, place } = faultIn(error, query);
  return new StoreError(`store: query: ${text} (${place})`, { code: error.code, cause: error });
}

/** The columns without lineage columns, in key order, so that the same rows give the same file. */
function selectTable(registry: Registry, name: string): string {
  const table = registry.tables.find((each) => each.name === name);
  const order = table === undefined ? 'ALL' : table.key.map(quoteName).join(', ');
  const columns = table?.columns.map((column) => column.name).filter((column) => !column.startsWith('_'));
  return `SELECT ${columns?.map(quoteName).join(', ') ?? '*'} FROM ${quoteName(name)} ORDER BY ${order}`;
}
