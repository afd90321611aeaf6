import type { ColumnDef } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { givenColumns } from './row-key.ts';
import type { FoundPlace, Thing } from './shown-thing.ts';

type Read = (sql: string) => Promise<QueryResult>;

/** The rows that have a value, by table and column; the tables that it is the key of come first. */
export async function findValue(
  read: Read,
  registry: Registry,
  ledger: readonly LedgerEntry[],
  { kind, value }: Thing,
): Promise<readonly FoundPlace[]> {
  const held = new Set(ledger.flatMap(({ tables }) => Object.keys(tables)));
  const places: FoundPlace[] = [];
  for (const table of registry.tables.filter(({ name }) => held.has(name))) {
    const columns = table.columns.filter((column) => mayHold(column, kind));
    if (columns.length === 0) continue;
    const conditions = columns.map(({ name }) => `${quoteName(name)} = ${kind === 'block' ? value : quoteText(value)}`);
    const counts = conditions.map((condition) => `count(*) FILTER (WHERE ${condition})::DOUBLE`);
    const { rows } = await read(
      `SELECT ${counts.join(', ')} FROM ${quoteName(table.name)} WHERE ${conditions.join(' OR ')}`,
    );
    for (const [at, { name, doc }] of columns.entries()) {
      const count = Number(rows[0]?.[at]);
      if (count > 0)
        places.push({ table: table.name, column: name, doc, count, isKey: givenColumns(table).join() === name });
    }
  }
  return places.sort((a, b) => Number(b.isKey) - Number(a.isKey));
}

function mayHold({ name, kind }: ColumnDef, sought: Thing['kind']): boolean {
  switch (sought) {
    case 'address':
      return kind === 'raw-address';
    case 'hash':
      return kind === 'base64-hash';
    case 'block':
      return /^(mc_block_seqno|mc_seqno)$/.test(name);
  }
}
