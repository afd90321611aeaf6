import { loadRegistry, type Registry } from '../registry.ts';
import { requireSameNetwork } from '../status.ts';
import { quoteName, quoteText } from '../store/canonical.ts';
import { openReader } from '../store/reader.ts';
import { findGaps } from '../warehouse.ts';
import type { RowsOutcome, RowsRequest } from './actions.ts';
import type { ExportFormat } from './formats.ts';

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
    const used = Object.entries(parameters).filter(([name]) => new RegExp(`\\$${name}\\b`).test(select));
    const copy = `COPY (\n${select}\n) TO ${quoteText(to)} (${COPY[format]})`;
    const { rows } = await reader.query(copy, used.length === 0 ? undefined : Object.fromEntries(used));
    return { rows: Number(rows[0]?.[0] ?? 0), gaps };
  } finally {
    await reader.close();
  }
}

/** The columns of the chain in the order of the key: the same rows make the same file. Lineage columns stay behind. */
function selectTable(registry: Registry, name: string): string {
  const table = registry.tables.find((each) => each.name === name);
  const order = table === undefined ? 'ALL' : table.key.map(quoteName).join(', ');
  const columns = table?.columns.map((column) => column.name).filter((column) => !column.startsWith('_'));
  return `SELECT ${columns?.map(quoteName).join(', ') ?? '*'} FROM ${quoteName(name)} ORDER BY ${order}`;
}
