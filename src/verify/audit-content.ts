import type { Span } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import { proveContent } from '../proof/content-proof.ts';
import { messageColumns, transactionColumns } from '../proof/proof-columns.ts';
import { StoredRows } from '../proof/stored-rows.ts';
import { uncheckedReasons, verdicts } from '../proof/verdicts.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { inRuns } from './audit-scope.ts';
import { type BadRow, type Finding, groupBad } from './finding.ts';

/** Transactions that are in memory together. */
const CHUNK = 20_000;

export interface ContentScope {
  readonly pipeline: string;
  readonly transactions: TableDef;
  readonly messages: TableDef;
  /** False if the hashes are not those of cells: then only what else must hold is checked. */
  readonly isHashed: boolean;
}

/** Compares the stored transactions of the runs with their hashes. `t` has them in a compact form. */
export async function auditContent(warehouse: DamagedStore, scope: ContentScope): Promise<readonly Finding[]> {
  const bad: BadRow[] = [];
  for (const span of await chunksOf(warehouse)) bad.push(...(await auditChunk(warehouse, scope, span)));
  return groupBad({ kind: 'content', pipeline: scope.pipeline, table: scope.transactions.name }, bad);
}

/** Spans of blocks with about `CHUNK` transactions. */
async function chunksOf({ database }: DamagedStore): Promise<readonly Span[]> {
  const { rows } = await database.query('SELECT mc, count(*)::INTEGER FROM t GROUP BY mc ORDER BY mc');
  const chunks: { from: number; to: number }[] = [];
  let size = CHUNK;
  for (const [mc, count] of rows as readonly (readonly [number, number])[]) {
    const last = chunks.at(-1);
    if (last === undefined || size + count > CHUNK) {
      chunks.push({ from: mc, to: mc });
      size = count;
    } else {
      last.to = mc;
      size += count;
    }
  }
  return chunks;
}

async function auditChunk(warehouse: DamagedStore, scope: ContentScope, span: Span): Promise<readonly BadRow[]> {
  const transactions = await readRows(warehouse, scope.transactions, [...transactionColumns, 'mc_block_seqno'], span);
  const messages = await readRows(warehouse, scope.messages, [...messageColumns, 'tx_hash'], span);
  const hashes = transactions.texts('hash');
  const rowOf = new Map(hashes.map((hash, row) => [hash, row]));
  const parentOf = messages.texts('tx_hash').map((hash) => rowOf.get(hash) ?? -1);
  // Messages of no transaction are found elsewhere.
  const order = Uint32Array.from(parentOf.keys())
    .filter((row) => (parentOf[row] as number) >= 0)
    .sort((a, b) => (parentOf[a] as number) - (parentOf[b] as number) || a - b);
  const parents = Int32Array.from(order, (row) => parentOf[row] as number);
  const rows = {
    transactions: transactions.table(),
    messages: messages.table(order),
    parents,
    messageCount: order.length,
  };
  const seqnos = transactions.integers('mc_block_seqno');
  const { verdicts: found, wrongOpcodes } = proveContent(rows, 0, seqnos.length, scope.isHashed);
  const bad: BadRow[] = [];
  for (const [row, seqno] of seqnos.entries()) {
    const verdict = verdicts[found[row] ?? 0] ?? 'undecided';
    if (verdict === 'agrees' || uncheckedReasons[verdict] !== undefined) continue;
    const got = verdict === 'contradicted' ? 'other content' : `other content (${verdict})`;
    bad.push([seqno, `content with hash ${hashes[row]}`, got]);
  }
  for (const { row } of wrongOpcodes) {
    const parent = parents[row] as number;
    bad.push([seqnos[parent] as number, `the opcode in the body of a message of ${hashes[parent]}`, 'another']);
  }
  return bad;
}

/** Rows of a table in some blocks. */
async function readRows(
  { database }: DamagedStore,
  table: TableDef,
  wanted: readonly string[],
  { from, to }: Span,
): Promise<StoredRows> {
  const rows = new StoredRows(table, wanted);
  const columns = rows.columns(quoteName).join(', ');
  await database.readRaw(`SELECT ${columns} FROM ${inRuns(table)} WHERE mc BETWEEN ${from} AND ${to}`, (read) =>
    rows.add(read),
  );
  return rows;
}
