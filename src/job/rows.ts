import { StoreError } from '../errors.ts';
import { loadRegistry, type Registry } from '../registry.ts';
import { sqlFault } from '../sqlfault.ts';
import { requireSameNetwork } from '../status.ts';
import { quoteName, quoteText } from '../store/canonical.ts';
import { openReader } from '../store/reader.ts';
import { findGaps } from '../warehouse.ts';
import type { RowsOutcome, RowsRequest } from './actions.ts';
import type { ExportFormat } from './formats.ts';
import type { PlacedQuery } from './job.ts';

const COPY: Readonly<Record<ExportFormat, string>> = {
  parquet: 'FORMAT parquet, COMPRESSION zstd',
  csv: 'FORMAT csv, HEADER',
  json: 'FORMAT json, ARRAY true',
};

/**
 * Writes the rows of a table or of a select to a file, without holding them in memory.
 *
 * @throws {StoreError} when the select is wrong or the file cannot be written
 */
export async function writeRows(path: string, to: string, request: RowsRequest): Promise<RowsOutcome> {
  const { source, format, network, parameters } = request;
  const registry = await loadRegistry();
  const reader = await openReader(path, registry.tables);
  try {
    requireSameNetwork(reader.path, reader.network, network);
    const select = 'table' in source ? selectTable(registry, source.table) : source.sql;
    const gaps = await findGaps(reader, registry, select);
    const copy = copyStatement(select, to, format);
    const { rows } = await reader.query(copy, boundIn(select, parameters)).catch((error: unknown) => {
      throw 'table' in source ? error : withPlace(error, source);
    });
    return { rows: Number(rows[0]?.[0] ?? 0), gaps };
  } finally {
    await reader.close();
  }
}

/** The statement that writes the rows of a select to a file. The select begins on its second line. */
export function copyStatement(select: string, to: string, format: ExportFormat): string {
  return `COPY (\n${select}\n) TO ${quoteText(to)} (${COPY[format]})`;
}

/** Those of some values that a select names. */
export function boundIn(
  select: string,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const used = Object.entries(values).filter(([name]) => new RegExp(`\\$${name}\\b`).test(select));
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

/** What DuckDB says of a query within `copyStatement`, and the line of the file that it means. */
export function faultIn(
  error: unknown,
  { sql, lines }: PlacedQuery,
): { readonly text: string; readonly place: string } {
  const { text, line = 2 } = sqlFault(error);
  // A text that ends too early is found wrong after its end.
  const at = lines.isFolded ? 1 : Math.min(Math.max(line - 1, 1), sql.split('\n').length);
  return { text: text.replace(/^Failed to extract statements: /, ''), place: `${lines.file}:${lines.line + at - 1}` };
}

function withPlace(error: unknown, query: PlacedQuery): unknown {
  if (!(error instanceof StoreError) || error.code !== 'failed') return error;
  const { text, place } = faultIn(error, query);
  return new StoreError(`store: query: ${text} (${place})`, { code: error.code, cause: error });
}

/** The columns of the chain in the order of the key: the same rows make the same file. Lineage columns stay behind. */
function selectTable(registry: Registry, name: string): string {
  const table = registry.tables.find((each) => each.name === name);
  const order = table === undefined ? 'ALL' : table.key.map(quoteName).join(', ');
  const columns = table?.columns.map((column) => column.name).filter((column) => !column.startsWith('_'));
  return `SELECT ${columns?.map(quoteName).join(', ') ?? '*'} FROM ${quoteName(name)} ORDER BY ${order}`;
}
