import type { Registry } from '../declare/registry.ts';
import { selectedTable } from '../declare/selected-table.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { Reader } from '../warehouse/index.ts';
import { failuresTable } from './check-failures.ts';
import type { MartDef } from './load-marts.ts';

/**
 * Undeclared tables of a warehouse: marts of the user's own files, and check failures. Without these files, the columns come from the rows, and
 * the key is unknown.
 */
export async function readBuiltTables(
  reader: Pick<Reader, 'ledger' | 'query'>,
  registry: Registry,
  shipped: readonly MartDef[],
): Promise<readonly TableDef[]> {
  const declared = new Set([...registry.tables.map(({ name }) => name), ...shipped.map(({ name }) => name)]);
  const built = new Map<string, TableDef>();
  for (const { mart, tables } of await reader.ledger()) {
    for (const name of mart === undefined ? [] : Object.keys(tables)) {
      if (declared.has(name) || built.has(name)) continue;
      built.set(name, name === failuresTable.name ? failuresTable : await readTable(reader, name, mart?.reads ?? []));
    }
  }
  return [...built.values()];
}

async function readTable(reader: Pick<Reader, 'query'>, name: string, reads: readonly string[]): Promise<TableDef> {
  const { rows } = await reader.query(`DESCRIBE ${quoteName(name)}`);
  const columns = rows.map(([column, type]) => ({ name: String(column), type: String(type) }));
  const grain = `a mart of your own${reads.length === 0 ? '' : `, built from ${reads.join(', ')}`}`;
  return selectedTable({ name, grain, key: [], isDated: false, columns });
}
