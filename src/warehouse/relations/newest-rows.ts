import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import type { NewestRule } from '../store.ts';
import { readFiles } from './table-relation.ts';

/**
 * Writes the rows of a file to another, sorted, with only the newest row of each key: the one with the greatest value of `rule.column`,
 * then the last one written. Only repeated keys take memory, and DuckDB spills them to disk if needed.
 *
 * @returns false if no key is repeated; nothing is written then
 */
export async function writeNewest(
  database: Database,
  table: TableDef,
  rule: NewestRule,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const key = rule.key.map(quoteName);
  const source = readFiles([from], 'hive_partitioning = false, file_row_number = true');
  const order = rule.column === undefined ? '0' : `coalesce(${quoteName(rule.column)}, -1)`;
  const version = `{'newest': ${order}, 'at': file_row_number}`;
  await database.withMemory(() =>
    database.run(
      `CREATE OR REPLACE TEMP TABLE repeated_keys AS
       SELECT ${key.map((name, at) => `${name} AS k${at}`).join(', ')}, max(${version}).at AS kept
       FROM ${source} GROUP BY ${key.join(', ')} HAVING count(*) > 1`,
    ),
  );
  try {
    const { rows } = await database.query('SELECT count(*) FROM repeated_keys');
    if (Number(rows[0]?.[0]) === 0) return false;
    const same = key.map((name, at) => `k${at} IS NOT DISTINCT FROM ${name}`).join(' AND ');
    const sort = table.sort.map(quoteName).join(', ');
    await database.withMemory(() =>
      database.run(
        `COPY (SELECT staged.* EXCLUDE (file_row_number) FROM ${source} AS staged LEFT JOIN repeated_keys ON ${same}
         WHERE kept IS NULL OR kept = file_row_number ORDER BY ${sort}) TO ${quoteText(to)} (FORMAT parquet)`,
      ),
    );
    return true;
  } finally {
    await database.run('DROP TABLE repeated_keys');
  }
}
