import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import type { TraceNode } from './shown-thing.ts';

/** Transactions of a trace that are shown. */
const MAX_TRANSACTIONS = 1000;

/**
 * The transactions of a trace as a tree: the children of a transaction received its messages. A transaction whose parent is not in the
 * warehouse is a root.
 */
export async function readTraceTree(query: Query, registry: Registry, trace: string): Promise<readonly TraceNode[]> {
  const table = quoteName(registry.playing('counted').table.name);
  const { rows: transactions } = await query(
    `SELECT hash, account, lt, aborted, ton(total_fees)::VARCHAR, CASE WHEN NOT compute_success
      THEN concat_ws(' ', compute_exit_code, exit_code_name(compute_exit_code)) END, mc_block_seqno FROM ${table}
    WHERE trace_id = ${quoteText(trace)} ORDER BY lt, hash LIMIT ${MAX_TRANSACTIONS}`,
  );
  if (transactions.length === 0) return [];
  const hashes = transactions.map(([each]) => quoteText(String(each))).join(', ');
  const blocks = transactions.map((row) => Number(row[6]));
  // The blocks are for skipping files: DuckDB does not use Bloom filters for a list.
  const { rows: ends } = await query(
    `SELECT tx_hash, direction, msg_hash, ton(value)::VARCHAR, opcode_label(opcode) FROM _message_ends
    WHERE tx_mc_block_seqno BETWEEN ${Math.min(...blocks)} AND ${Math.max(...blocks)} AND tx_hash IN (${hashes})`,
  );
  const senders = new Map(ends.filter(([, way]) => way === 'out').map(([tx, , msg]) => [String(msg), String(tx)]));
  const received = new Map(ends.filter(([, way]) => way === 'in').map((end) => [String(end[0]), end]));
  const nodes = new Map<string, TraceNode & { children: TraceNode[] }>();
  for (const [id, account, lt, aborted, fees, exit] of transactions) {
    const [, , , value, opcode] = received.get(String(id)) ?? [];
    nodes.set(String(id), {
      hash: String(id),
      account: String(account),
      lt: String(lt),
      isAborted: aborted === true,
      ton: textOf(value) ?? null,
      opcode: textOf(opcode) ?? null,
      children: [],
      fees: textOf(fees) ?? '',
      exit: textOf(exit) ?? null,
    });
  }
  const roots: TraceNode[] = [];
  for (const [id, node] of nodes) {
    const sender = senders.get(String(received.get(id)?.[2]));
    const parent = sender === undefined || sender === id ? undefined : nodes.get(sender);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
