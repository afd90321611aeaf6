import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import type { TraceNode } from './shown-thing.ts';

/** Transactions of a trace that are shown. */
const MAX_TRANSACTIONS = 1000;

/**
 * The trace that a hash names, or that has a transaction of that hash, as a tree: the children of a transaction received its messages.
 * A transaction whose parent is not in the warehouse is a root.
 */
export async function readTraceTree(
  read: (sql: string) => Promise<QueryResult>,
  registry: Registry,
  hash: string,
): Promise<readonly TraceNode[]> {
  const [text, limit] = [quoteText(hash), MAX_TRANSACTIONS];
  const table = quoteName(registry.playing('counted').table.name);
  const own = `SELECT hash, account, lt, aborted, ton(total_fees)::VARCHAR, CASE WHEN NOT compute_success
      THEN concat_ws(' ', compute_exit_code, exit_code_name(compute_exit_code)) END FROM ${table}
    WHERE trace_id = coalesce((SELECT min(trace_id) FROM ${table} WHERE hash = ${text}), ${text}) ORDER BY lt, hash LIMIT ${limit}`;
  const { rows: transactions } = await read(own);
  if (transactions.length === 0) return [];
  const hashes = transactions.map(([each]) => quoteText(String(each))).join(', ');
  const { rows: ends } = await read(
    `SELECT tx_hash, direction, msg_hash, ton(value)::VARCHAR, opcode_label(opcode)
    FROM _message_ends WHERE tx_hash IN (${hashes})`,
  );
  const senders = new Map(ends.filter(([, way]) => way === 'out').map(([tx, , msg]) => [String(msg), String(tx)]));
  const received = new Map(ends.filter(([, way]) => way === 'in').map((end) => [String(end[0]), end]));
  const nodes = new Map<string, TraceNode & { children: TraceNode[] }>();
  for (const [id, account, lt, aborted, fees, exit] of transactions) {
    const [, , , value, opcode] = received.get(String(id)) ?? [];
    nodes.set(String(id), {
      ...{ hash: String(id), account: String(account), lt: String(lt), isAborted: aborted === true },
      ...{ ton: textOf(value) ?? null, opcode: textOf(opcode) ?? null, children: [] },
      ...{ fees: textOf(fees) ?? '', exit: textOf(exit) ?? null },
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
