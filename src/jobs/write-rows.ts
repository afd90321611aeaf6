import { StoreError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { guarded } from '../files/file-failure.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { sqlFault } from '../sql/sql-fault.ts';
import { CellNotes } from '../targets/cell-notes.ts';
import { exportRows, writeFileAs } from '../targets/export-rows.ts';
import { openRows } from '../targets/exported-rows.ts';
import { openReader } from '../warehouse/index.ts';
import { lacksOfQuery } from '../warehouse/query/query-coverage.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import type { PlacedQuery } from './job.ts';
import type { DatabaseRequest, RowsOutcome, RowsRequest } from './job-actions.ts';

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
    const gaps = await lacksOfQuery(reader, registry, { sql: select, parameters });
    const bound = boundIn(select, parameters);
    const notes = new CellNotes();
    const name = 'table' in source ? source.table : 'rows';
    const write = async (): Promise<number> => {
      const rows = await openRows(reader, registry, { sql: select }, { parameters: bound });
      return writeFileAs(format, to, reader, rows, { name, notes, options: { parameters: bound } });
    };
    const rows = await guarded(`file ${to}`, write).catch((error: unknown) => {
      throw 'table' in source ? error : withPlace(error, source);
    });
    return { rows, gaps, notes: notes.messages() };
  } finally {
    await reader.close();
  }
}

/**
 * Writes the rows of a table or a select to a database, where they replace those of the same days.
 *
 * @throws {StoreError} if the select is wrong or the database cannot be written
 */
export async function writeDatabase(path: string, to: string, request: DatabaseRequest): Promise<RowsOutcome> {
  const { source, as, days, network, parameters } = request;
  const isTable = 'table' in source;
  const bound = isTable ? undefined : boundIn(source.sql, parameters);
  const gaps: string[] = [];
  const given = { network, as, daysIfDated: days, parameters: bound, onGap: (gap: string) => void gaps.push(gap) };
  const report = await exportRows(path, isTable ? source : { sql: source.sql }, to, given).catch((error: unknown) => {
    throw isTable ? error : withPlace(error, source);
  });
  return { rows: report.rows, gaps, notes: report.warnings.filter((warning) => !gaps.includes(warning)) };
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
