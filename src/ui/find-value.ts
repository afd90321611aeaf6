import { base64Hash, rawAddress } from '../core/address.ts';
import type { ColumnDef } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import { givenColumns } from '../explain/row-key.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import type { FoundPlace, FoundValue } from './ui-types.ts';

export type Read = (sql: string) => Promise<QueryResult>;

/** What a text names, and how tables hold it. */
export interface SoughtValue {
  readonly kind: FoundValue['kind'];
  readonly value: string;
}

/** An address in any form, a hash as hex or base64, or the seqno of a masterchain block; undefined for any other text. */
export function parseSought(text: string): SoughtValue | undefined {
  const word = text.trim();
  const address = rawAddress(word);
  if (address !== undefined) return { kind: 'address', value: address };
  const hash = base64Hash(word);
  if (hash !== undefined) return { kind: 'hash', value: hash };
  const digits = word.replaceAll(/[_,](?=\d{3}\b)/g, '');
  return /^\d{1,10}$/.test(digits) ? { kind: 'block', value: digits } : undefined;
}

/** The rows that have a value, by table and column; the tables that it is the key of come first. */
export async function findValue(
  read: Read,
  registry: Registry,
  ledger: readonly LedgerEntry[],
  { kind, value }: SoughtValue,
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

function mayHold({ name, kind }: ColumnDef, sought: SoughtValue['kind']): boolean {
  switch (sought) {
    case 'address':
      return kind === 'raw-address';
    case 'hash':
      return kind === 'base64-hash';
    case 'block':
      return /^(mc_block_seqno|mc_seqno)$/.test(name);
  }
}
