import type { ColumnDef } from '../declare/column.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { tablesIn } from '../warehouse/query/coverage.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { givenColumns } from './row-key.ts';
import type { FoundPlace, Thing } from './shown-thing.ts';

/**
 * The rows that have a value, by table and column; the tables that it is the key of come first.
 *
 * @param where `indexed`: columns with a Bloom filter, and blocks, for which files and row groups are skipped; `others`: all other columns,
 *   whose values are all read
 */
export async function findPlaces(
  { reader, registry }: OpenWarehouse,
  { kind, value }: Thing,
  where: 'indexed' | 'others',
): Promise<readonly FoundPlace[]> {
  const filled = tablesIn(await reader.ledger());
  const places: FoundPlace[] = [];
  for (const table of registry.tables.filter(({ name }) => filled.has(name))) {
    const columns = table.columns.filter((column) => mayContain(column, kind));
    const isIndexed = ({ bloomFilter }: ColumnDef): boolean => bloomFilter === true || kind === 'block';
    // DuckDB uses a filter for one equality alone, not for several of them with OR.
    const scans =
      where === 'indexed'
        ? columns.filter(isIndexed).map((column) => [column])
        : [columns.filter((column) => !isIndexed(column))];
    for (const scanned of scans.filter(({ length }) => length > 0)) {
      const conditions = scanned.map(
        ({ name }) => `${quoteName(name)} = ${kind === 'block' ? value : quoteText(value)}`,
      );
      const counts = conditions.map((condition) => `count(*) FILTER (WHERE ${condition})::DOUBLE`);
      const { rows } = await reader.query(
        `SELECT ${counts.join(', ')} FROM ${quoteName(table.name)} WHERE ${conditions.join(' OR ')}`,
      );
      for (const [at, { name, doc }] of scanned.entries()) {
        const count = Number(rows[0]?.[at]);
        if (count > 0)
          places.push({ table: table.name, column: name, doc, count, isKey: givenColumns(table).join() === name });
      }
    }
  }
  return places.sort((a, b) => Number(b.isKey) - Number(a.isKey));
}

function mayContain({ name, kind }: ColumnDef, sought: Thing['kind']): boolean {
  switch (sought) {
    case 'address':
      return kind === 'raw-address';
    case 'hash':
      return kind === 'base64-hash';
    case 'block':
      return /^(mc_block_seqno|mc_seqno)$/.test(name);
  }
}
