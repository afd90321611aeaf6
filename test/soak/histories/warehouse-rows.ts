import { hashedColumns } from '../../../src/audit/content-hash.ts';
import type { Span } from '../../../src/core/span.ts';
import { loadRegistry } from '../../../src/declare/registry.ts';
import { quoteName } from '../../../src/sql/canonical-text.ts';
import type { Reader } from '../../../src/warehouse/index.ts';
import { openReader } from '../../../src/warehouse/open-store.ts';

export const registry = await loadRegistry();

/** Three days, of twelve blocks each. */
export const [FIRST, LAST] = [986, 1015];
export const NETWORK = { blocks: 1300, blockTimeMs: 7_200_000 };

export const CHAIN = ['blocks', 'transactions'];
export const LISTS = ['traces', 'actions', 'jetton_transfers', 'jetton_burns', 'nft_transfers', 'message_links'];
export const OF_BLOCKS = [...CHAIN, ...LISTS];
export const LOOKUPS = [
  ...['decoded_messages', 'jetton_wallets', 'account_latest', 'address_book', 'nft_items', 'jetton_masters'],
];
export const MARTS = [
  ...['accounts', 'latest_balances', 'transactions_daily', 'gas_fees_daily', 'active_accounts_daily'],
  'jetton_holders_daily',
];
/** Tables that a run may leave out. */
export const OPTIONAL = ['account_states', 'messages'];

/** Rows by table, each as its masterchain block, if it names one, and a hash of its values. */
export type Rows = ReadonlyMap<string, readonly string[]>;

export async function rowsOf(path: string, pipelines: readonly string[], marts: readonly string[] = []): Promise<Rows> {
  const reader = await openReader(path, registry.tables);
  try {
    return await rowsIn(reader, pipelines, marts);
  } finally {
    await reader.close();
  }
}

/** What a reader shows. */
export async function rowsIn(
  reader: Reader,
  pipelines: readonly string[],
  marts: readonly string[] = [],
): Promise<Rows> {
  const built = (await reader.marts()).filter(({ name }) => marts.includes(name));
  const tables = pipelines.flatMap((name) => registry.pipeline(name).tables);
  const rows = new Map<string, readonly string[]>();
  for (const table of [...tables, ...built]) {
    const columns = hashedColumns(table).map(({ name }) => quoteName(name));
    const block = table.columns.find(({ name }) => /^(tx_)?mc_block_seqno$/.test(name))?.name ?? 'NULL';
    const found = await reader.query(
      `SELECT concat(${block}, ':', hash(${columns.join(', ')})) FROM ${quoteName(table.name)}`,
    );
    rows.set(table.name, found.rows.map(([row]) => String(row)).sort());
  }
  return rows;
}

/** Rows without those of others; a row that is there twice counts twice. */
export function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

export const blocksOf = ({ from, to }: Span): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
