import { loadRegistry } from '../registry.ts';
import { requireSameNetwork } from '../status.ts';
import { quoteName, quoteText } from '../store/canonical.ts';
import { openWarehouse } from '../warehouse.ts';
import type { RowsRequest } from './actions.ts';
import type { ExportFormat } from './formats.ts';

const COPY: Readonly<Record<ExportFormat, string>> = {
  parquet: 'FORMAT parquet, COMPRESSION zstd',
  csv: 'FORMAT csv, HEADER',
  json: 'FORMAT json, ARRAY true',
};

/**
 * Writes the rows of a table or of a select to a file, without holding them in memory.
 *
 * @returns how many there are
 * @throws {StoreError} when the select is wrong or the file cannot be written
 */
export async function writeRows(path: string, to: string, request: RowsRequest): Promise<number> {
  const { source, format, network, parameters } = request;
  const warehouse = await openWarehouse(path);
  try {
    requireSameNetwork(warehouse.path, warehouse.network, network);
    const select = 'table' in source ? await selectTable(source.table) : source.sql;
    const used = Object.entries(parameters).filter(([name]) => new RegExp(`\\$${name}\\b`).test(select));
    const copy = `COPY (\n${select}\n) TO ${quoteText(to)} (${COPY[format]})`;
    const { rows } = await warehouse.query(copy, used.length === 0 ? undefined : Object.fromEntries(used));
    return Number(rows[0]?.[0] ?? 0);
  } finally {
    await warehouse.close();
  }
}

/** The columns of the chain in the order of the key: the same rows make the same file. Lineage columns stay behind. */
async function selectTable(name: string): Promise<string> {
  const table = (await loadRegistry()).tables.find((each) => each.name === name);
  const order = table === undefined ? 'ALL' : table.key.map(quoteName).join(', ');
  const columns = table?.columns.map((column) => column.name).filter((column) => !column.startsWith('_'));
  return `SELECT ${columns?.map(quoteName).join(', ') ?? '*'} FROM ${quoteName(name)} ORDER BY ${order}`;
}
