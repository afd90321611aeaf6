import { comparedColumns, comparedRoles, type OrdersCheck, valueColumns } from '../declare/cross-check.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { RoleColumns, RoleName } from '../declare/roles.ts';
import { quoteName } from '../sql/canonical-text.ts';

/**
 * `missing`: transactions prove that the list must have the item. `unverified`: they do if the index has verified the contract.
 * `unsure`: it is possible, so request the item. `wrong`: the row contradicts transactions. `outdated`: it lacks what a transaction shows, as
 * a row does that was read before.
 */
export type FaultKind = 'missing' | 'unverified' | 'unsure' | 'wrong' | 'outdated';

/** Relations for a comparison, as SQL; in addition to the list's own tables. */
export interface ListRelations {
  /** Rows of the list. */
  readonly own: string;
  /**
   * The compared blocks: `run_from` and `run_to`, masterchain blocks for which the list is complete; `stored_from`, from which on
   * transactions are stored without a gap up to `run_to`; `low` and `high` (exclusive), the logical times all of whose transactions
   * are stored; `first`, from which on the list has rows of these blocks, up to `low` among those of the block before, which may not be stored.
   */
  readonly judged: string;
  /** Rows of a role, as its relation has them: at least those of the blocks from `stored_from` to `run_to`. */
  readonly near: (role: 'counted' | 'messageEnds') => string;
  /** Rows of a role from the block `stored_from` on: what begins in the compared blocks may end in any later one. */
  readonly since: (role: 'messageEnds' | 'wholeTraces') => string;
}

/** Comparison of a list with the transactions of the same blocks. */
export interface ListComparison {
  readonly pipeline: string;
  /** Roles whose tables must have the same blocks. */
  readonly with: readonly RoleName[];
  /** Columns of them that are compared. */
  readonly columns: RoleColumns;
  /** Columns of the list whose values are compared with them. */
  readonly values: readonly string[];
  /** Other tables that are read if stored. */
  readonly reads: readonly string[];
  /** SQL of faults: `seqno` (masterchain block), `item` (to request from the list), `lt`, `expected`, `got`, `kind`. */
  readonly faults: (relations: ListRelations) => string;
}

/** Column of a list with the same value as an SQL expression over transactions, messages, or all transactions of a trace. */
type SameValue = readonly [column: string, other: string];

type Differs = '<>' | 'IS DISTINCT FROM';

/** SQL: a row `l` has another value than it must have. @param differs `<>` if the row may lack a value */
function isOther(values: readonly SameValue[], differs: Differs = 'IS DISTINCT FROM'): string {
  return values.map(([own, other]) => `l.${quoteName(own)} ${differs} ${other}`).join(' OR ') || 'false';
}

/** SQL: `the value, created_at of`, the columns with another value. */
function theOthers(values: readonly SameValue[], differs?: Differs): string {
  const names = values.map((value) => `CASE WHEN ${isOther([value], differs)} THEN '${value[0]}' END`);
  return `concat('the ', concat_ws(', ', NULL, ${names.join(', ') || 'NULL'}), ' of ')`;
}

/** Sender of messages created by the protocol. */
const PROTOCOL = `-1:${'0'.repeat(64)}`;

/**
 * A trace is complete if its root is stored and every internal message sent by its transactions was consumed by one of them. The index
 * may not list traces that began before the stored blocks, or whose root has an unknown sender.
 */
function traceFaults(columns: readonly string[]) {
  const values = columns.map((name): SameValue => [name, `w.${name}`]);
  return ({ own, judged, near, since }: ListRelations): string => `WITH j AS (${judged}), own AS (${own}),
    tx AS (SELECT run_from, run_to, hash, trace_id, mc_block_seqno AS mc, lt, now FROM ${near('counted')}
      JOIN j ON mc_block_seqno BETWEEN stored_from AND run_to WHERE trace_id IS NOT NULL),
    seen AS (SELECT DISTINCT run_from, trace_id FROM tx WHERE mc >= run_from),
    members AS (SELECT tx.* FROM tx SEMI JOIN seen ON seen.run_from = tx.run_from AND seen.trace_id = tx.trace_id),
    ends AS (SELECT x.run_from, x.trace_id, x.hash, m.msg_hash, m.direction, m.source FROM ${near('messageEnds')} m
      JOIN members x ON x.hash = m.tx_hash AND x.mc = m.tx_mc_block_seqno
      WHERE m.value IS NOT NULL AND m.created_lt IS NOT NULL),
    unfinished AS (SELECT DISTINCT run_from, trace_id FROM (FROM ends WHERE direction = 'out') o
      ANTI JOIN (FROM ends WHERE direction = 'in') i ON i.run_from = o.run_from AND i.msg_hash = o.msg_hash),
    begun AS (SELECT DISTINCT run_from, hash FROM members x WHERE hash = trace_id AND NOT EXISTS (FROM ends e
      WHERE e.run_from = x.run_from AND e.hash = x.hash AND e.direction = 'in' AND e.source IS DISTINCT FROM '${PROTOCOL}')),
    whole AS (SELECT run_from, any_value(run_to) AS run_to, trace_id, count(*) AS n, max(mc) AS mc, bool_or(hash = trace_id) AS is_rooted,
      any_value(lt) FILTER (hash = trace_id) AS start_lt, any_value(now) FILTER (hash = trace_id) AS start_utime,
      max(lt) AS end_lt, max(now) AS end_utime FROM members GROUP BY ALL),
    listed AS (SELECT trace_id FROM own UNION
      SELECT trace_id FROM ${since('wholeTraces')} ANTI JOIN j ON mc_seqno_end BETWEEN run_from AND run_to)
    SELECT w.mc AS seqno, w.trace_id AS item, NULL::BIGINT AS lt,
      concat('trace ', w.trace_id, ' of ', w.n, ' transactions') AS expected, 'none' AS got,
      CASE WHEN b.hash IS NULL THEN 'unsure' ELSE 'missing' END AS kind
    FROM whole w LEFT JOIN begun b ON b.run_from = w.run_from AND b.hash = w.trace_id
    ANTI JOIN unfinished u ON u.run_from = w.run_from AND u.trace_id = w.trace_id
    ANTI JOIN listed l ON l.trace_id = w.trace_id
    WHERE w.mc BETWEEN w.run_from AND w.run_to
    UNION ALL
    SELECT t.mc_seqno_end, t.trace_id, NULL, concat(t.transactions, ' transactions of trace ', t.trace_id),
      coalesce(w.n, 0)::VARCHAR, 'wrong'
    FROM own t JOIN j ON t.mc_seqno_end BETWEEN j.run_from AND j.run_to
    LEFT JOIN whole w ON w.run_from = j.run_from AND w.trace_id = t.trace_id
    WHERE coalesce(w.n, 0) <> t.transactions AND (t.mc_seqno_start >= j.stored_from OR w.is_rooted)
    UNION ALL
    SELECT l.mc_seqno_end, l.trace_id, NULL, concat(${theOthers(values)}, 'trace ', l.trace_id), 'another', 'wrong'
    FROM own l JOIN j ON l.mc_seqno_end BETWEEN j.run_from AND j.run_to
    JOIN whole w ON w.run_from = j.run_from AND w.trace_id = l.trace_id AND w.is_rooted AND w.n = l.transactions
    WHERE ${isOther(values)}
    UNION ALL
    SELECT t.mc_seqno_end, t.trace_id, NULL, concat('a transaction of trace ', t.trace_id, ' in block ', t.mc_seqno_end), 'none', 'wrong'
    FROM own t JOIN j ON t.mc_seqno_end BETWEEN j.run_from AND j.run_to
    ANTI JOIN tx ON tx.run_from = j.run_from AND tx.trace_id = t.trace_id AND tx.mc = t.mc_seqno_end`;
}

/**
 * The number of actions is unknown. What can be checked: most traces have one, its trace has a transaction in its block, and its
 * transactions are part of its trace. Missing traces are reported for the list of traces.
 */
function actionFaults({ own, judged, near, since }: ListRelations): string {
  return `WITH j AS (${judged}), own AS (${own}),
    parts AS (SELECT trace_id, trace_mc_seqno_end AS mc, start_lt, unnest(from_json(transactions, '["VARCHAR"]')) AS hash FROM own)
    SELECT t.mc_seqno_end AS seqno, t.trace_id AS item, NULL::BIGINT AS lt,
      concat('actions of trace ', t.trace_id) AS expected, 'none' AS got, 'unsure' AS kind
    FROM ${since('wholeTraces')} t JOIN j ON t.mc_seqno_end BETWEEN run_from AND run_to ANTI JOIN own a ON a.trace_id = t.trace_id
    WHERE t.is_incomplete IS DISTINCT FROM true AND NOT (t.transactions = 1 AND t.external_hash IS NULL)
    UNION ALL
    SELECT a.trace_mc_seqno_end, a.trace_id, NULL, concat('trace ', a.trace_id, ' of an action in block ', a.trace_mc_seqno_end),
      'none', 'wrong'
    FROM own a JOIN j ON a.trace_mc_seqno_end BETWEEN j.run_from AND j.run_to
    ANTI JOIN (SELECT trace_id, mc_block_seqno FROM ${near('counted')} JOIN j ON mc_block_seqno BETWEEN stored_from AND run_to) x
      ON x.trace_id = a.trace_id AND x.mc_block_seqno = a.trace_mc_seqno_end
    UNION ALL
    SELECT a.trace_mc_seqno_end, a.trace_id, NULL, concat('trace ', a.trace_id, ' of an action in block ', a.trace_mc_seqno_end),
      concat('block ', t.mc_seqno_end), 'wrong'
    FROM own a JOIN j ON a.trace_mc_seqno_end BETWEEN j.run_from AND j.run_to
    JOIN ${since('wholeTraces')} t ON t.trace_id = a.trace_id WHERE t.mc_seqno_end <> a.trace_mc_seqno_end
    UNION ALL
    SELECT a.mc, a.trace_id, NULL, concat('transaction ', a.hash, ' of an action'), 'none', 'wrong'
    FROM parts a JOIN j ON a.mc BETWEEN j.run_from AND j.run_to AND a.start_lt >= j.low
    ANTI JOIN (SELECT hash, trace_id FROM ${near('counted')} JOIN j ON mc_block_seqno BETWEEN stored_from AND run_to) x
      ON x.hash = a.hash AND x.trace_id = a.trace_id`;
}

/** Logical times that the list must have: every transaction of these blocks is later than the newest blocks before them. */
function isListed(lt: string, seqno: string): string {
  return `(${lt} >= low OR ${seqno} >= run_from) AND ${lt} < high`;
}

/** The stored receiver proves a link, too: the only proof of messages that the protocol created, which no transaction has sent. */
function linkFaults(columns: readonly string[]) {
  const values = columns.map((name): SameValue => [name, `m.${name}`]);
  const copied = ['created_lt', ...columns.filter((name) => name !== 'created_lt')].map(quoteName).join(', ');
  return ({ own, judged, near, since }: ListRelations): string => `WITH j AS (${judged}), own AS (${own}),
    sent AS (SELECT msg_hash, tx_hash, tx_mc_block_seqno AS mc, ${copied} FROM ${near('messageEnds')}
      JOIN j ON tx_mc_block_seqno BETWEEN stored_from AND run_to AND ${isListed('created_lt', 'tx_mc_block_seqno')}
      WHERE direction = 'out'),
    received AS (SELECT * FROM ${since('messageEnds')} WHERE direction = 'in'),
    minted AS (SELECT msg_hash, tx_hash, tx_mc_block_seqno AS mc, ${copied} FROM received
      JOIN j ON tx_mc_block_seqno BETWEEN stored_from AND run_to AND ${isListed('created_lt', 'tx_mc_block_seqno')}
      WHERE source = '${PROTOCOL}'),
    linked AS (SELECT DISTINCT msg_hash, out_msg_tx_hash, created_lt, run_to AS mc, created_lt >= low AS is_whole FROM own
      JOIN j ON created_lt >= first AND created_lt < high
      -- In a broken trace, the sender and the receiver are in rows of their own.
      WHERE out_msg_tx_hash IS NOT NULL OR msg_hash NOT IN (SELECT msg_hash FROM own WHERE out_msg_tx_hash IS NOT NULL))
    SELECT coalesce(m.mc, l.mc) AS seqno, coalesce(m.msg_hash, l.msg_hash) AS item, coalesce(m.created_lt, l.created_lt) AS lt,
      concat('message ', coalesce(m.msg_hash, l.msg_hash), ' sent by ', coalesce(m.tx_hash, 'a listed transaction')) AS expected,
      CASE WHEN l.msg_hash IS NULL THEN 'no link' ELSE coalesce(l.out_msg_tx_hash, 'no sender') END AS got,
      CASE WHEN l.msg_hash IS NULL THEN 'missing' ELSE 'wrong' END AS kind
    FROM sent m FULL JOIN linked l ON l.msg_hash = m.msg_hash
    WHERE l.out_msg_tx_hash IS DISTINCT FROM m.tx_hash AND (m.msg_hash IS NOT NULL OR l.is_whole)
    UNION ALL
    SELECT mc, msg_hash, created_lt, concat('message ', msg_hash, ' created by the protocol'), 'no link', 'missing'
    FROM minted ANTI JOIN own l ON l.msg_hash = minted.msg_hash
    UNION ALL
    SELECT m.mc, m.msg_hash, m.created_lt, concat(${theOthers(values)}, 'message ', m.msg_hash), 'another', 'wrong'
    FROM (FROM sent UNION ALL FROM minted) m JOIN own l ON l.msg_hash = m.msg_hash WHERE ${isOther(values)}
    UNION ALL
    SELECT coalesce(s.mc, m.tx_mc_block_seqno), m.msg_hash, m.created_lt,
      concat('message ', m.msg_hash, ' consumed by ', m.tx_hash), coalesce(l.in_msg_tx_hash, 'in transit'),
      CASE WHEN l.in_msg_tx_hash IS NULL THEN 'outdated' ELSE 'wrong' END
    FROM received m JOIN own l ON l.msg_hash = m.msg_hash LEFT JOIN sent s ON s.msg_hash = m.msg_hash
    WHERE l.in_msg_tx_hash IS DISTINCT FROM m.tx_hash AND m.tx_hash NOT IN (
      SELECT in_msg_tx_hash FROM own twin WHERE twin.msg_hash = m.msg_hash AND in_msg_tx_hash IS NOT NULL
        AND (l.in_msg_tx_hash IS NOT NULL OR twin.out_msg_tx_hash IS NULL))`;
}

/** Only orders of contracts verified by the index are listed. If any row names a contract, all its successful orders must be listed. */
function orderFaults(table: string, columns: readonly string[], check: OrdersCheck) {
  const { opcode, account, contracts, isAbortedListed } = check;
  const others: Readonly<Record<string, string>> = { tx_lt: 'x.lt', tx_now: 'x.now', tx_aborted: 'x.aborted' };
  const values: readonly SameValue[] = [
    ...columns.flatMap((name) => (others[name] === undefined ? [] : [[name, others[name]] as const])),
    [account, 'x.account'],
  ];
  // Servers of 2024 list aborted orders, and never say so.
  const isTold = columns.includes('tx_aborted') ? 'EXISTS (FROM own WHERE tx_aborted IS NOT NULL)' : 'true';
  return ({ own, judged, near }: ListRelations): string => `WITH j AS (${judged}), own AS (${own}),
    orders AS (SELECT DISTINCT x.hash, x.account, x.lt, x.mc_block_seqno AS mc, x.end_status,
        x.aborted IS NOT TRUE AND x.compute_success IS TRUE AS is_done
      FROM ${near('counted')} x JOIN j ON x.mc_block_seqno BETWEEN stored_from AND run_to AND ${isListed('x.lt', 'x.mc_block_seqno')}
      JOIN ${near('messageEnds')} m ON m.tx_hash = x.hash AND m.tx_mc_block_seqno = x.mc_block_seqno
      WHERE m.direction = 'in' AND m.opcode = ${opcode}),
    verified AS (SELECT ${quoteName(account)} AS account FROM own UNION SELECT ${quoteName(account)} FROM ${quoteName(table)}
      UNION SELECT ${quoteName(contracts.column)} FROM ${quoteName(contracts.table)})
    SELECT o.mc AS seqno, o.account AS item, o.lt, concat('${table} of transaction ', o.hash) AS expected, 'none' AS got,
      CASE WHEN NOT (o.is_done AND o.end_status = 'active') THEN 'unsure'
        WHEN o.account IN (FROM verified) THEN 'missing' ELSE 'unverified' END AS kind
    FROM orders o ANTI JOIN own l ON l.tx_hash = o.hash
    WHERE ${isAbortedListed ? 'true' : 'o.is_done'}
    UNION ALL
    SELECT coalesce(m.tx_mc_block_seqno, run_to), l.${quoteName(account)}, l.tx_lt,
      concat('transaction ', l.tx_hash, ' that received ${opcode.toString(16)}'),
      coalesce(printf('%08x', m.opcode), 'none'), 'wrong'
    FROM own l JOIN j ON l.tx_lt >= low AND l.tx_lt < high
    LEFT JOIN ${near('messageEnds')} m ON m.tx_hash = l.tx_hash AND m.direction = 'in'
    WHERE m.opcode IS DISTINCT FROM ${opcode}
    UNION ALL
    SELECT x.mc_block_seqno, l.${quoteName(account)}, l.tx_lt, concat(${theOthers(values, '<>')}, 'transaction ', l.tx_hash), 'another', 'wrong'
    FROM own l JOIN ${near('counted')} x ON x.hash = l.tx_hash JOIN j ON x.mc_block_seqno BETWEEN stored_from AND run_to
    WHERE ${isOther(values, '<>')}
    UNION ALL
    SELECT x.mc_block_seqno, l.${quoteName(account)}, l.tx_lt, '${table} of transactions that were not aborted',
      concat('one of transaction ', l.tx_hash), 'wrong'
    FROM own l JOIN ${near('counted')} x ON x.hash = l.tx_hash JOIN j ON x.mc_block_seqno BETWEEN stored_from AND run_to
    WHERE x.aborted AND ${isAbortedListed ? 'false' : isTold}`;
}

/** The comparison of a pipeline's list with other tables; undefined if there is none. */
export function comparisonOf({ name, tables, crossCheck }: PipelineDef): ListComparison | undefined {
  const [table] = tables;
  if (crossCheck === undefined || table === undefined) return undefined;
  const values = valueColumns(crossCheck).filter((column) => table.columns.some((each) => each.name === column));
  const common = { pipeline: name, with: comparedRoles(crossCheck), columns: comparedColumns(crossCheck), values };
  switch (crossCheck.kind) {
    case 'sentMessages':
      return { ...common, reads: [], faults: linkFaults(values) };
    case 'wholeTraces':
      return { ...common, reads: [], faults: traceFaults(values) };
    case 'traceMembers':
      return { ...common, reads: [], faults: actionFaults };
    case 'orders':
      return { ...common, reads: [crossCheck.contracts.table], faults: orderFaults(table.name, values, crossCheck) };
  }
}
