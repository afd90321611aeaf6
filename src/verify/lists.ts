import type { TableDef } from '../declare/table.ts';
import type { Span } from '../span.ts';
import { type Finding, groupBad } from './finding.ts';
import type { Held } from './held.ts';
import { findBad, setHeaders, setRuns, TIPS } from './scope.ts';

/** A list that is compared with transactions: SQL that accuses masterchain blocks, over `runs`, `windows` and the tables. */
interface ListAudit {
  readonly pipeline: string;
  /** Tables that it reads beside its own. */
  readonly with: readonly string[];
  readonly sql: string;
}

/** In the rows of transactions of the same blocks. */
const IN_RUN = (from: string, to: string): string =>
  `EXISTS (FROM runs WHERE ${from} BETWEEN run_from AND run_to AND ${to} BETWEEN run_from AND run_to)`;

/** Transfers and burns are told by transactions that received a message with this opcode. */
const ORDERS = { jetton_transfers: 0x0f8a7ea5, jetton_burns: 0x595f07bc, nft_transfers: 0x5fcc3d14 } as const;

export const LIST_AUDITS: readonly ListAudit[] = [
  {
    pipeline: 'message_links',
    with: ['transactions', 'messages'],
    sql: `SELECT [coalesce(m.mc, l.mc)] AS blame,
        concat('message ', coalesce(m.msg_hash, l.msg_hash), ' sent by ', coalesce(m.tx_hash, 'a listed transaction')) AS expected,
        CASE WHEN l.msg_hash IS NULL THEN 'no link' ELSE coalesce(l.out_msg_tx_hash, 'no sender') END AS got
      FROM (SELECT msg_hash, tx_hash, tx_mc_block_seqno AS mc FROM messages JOIN windows
          ON tx_mc_block_seqno BETWEEN run_from AND run_to AND created_lt >= low AND created_lt < high
          WHERE direction = 'out') m
      FULL JOIN (SELECT DISTINCT msg_hash, out_msg_tx_hash, run_to AS mc FROM message_links JOIN windows
          ON created_lt >= low AND created_lt < high) l ON l.msg_hash = m.msg_hash
      WHERE l.out_msg_tx_hash IS DISTINCT FROM m.tx_hash
      UNION ALL
      SELECT [m.tx_mc_block_seqno], concat('message ', m.msg_hash, ' consumed by ', m.tx_hash), l.in_msg_tx_hash
      FROM messages m JOIN message_links l ON l.msg_hash = m.msg_hash
      WHERE m.direction = 'in' AND l.in_msg_tx_hash <> m.tx_hash AND m.tx_hash NOT IN (
        SELECT in_msg_tx_hash FROM message_links twin WHERE twin.msg_hash = m.msg_hash AND in_msg_tx_hash IS NOT NULL)`,
  },
  {
    pipeline: 'traces',
    with: ['transactions'],
    sql: `SELECT [mc_seqno_end] AS blame, concat(transactions, ' transactions of trace ', trace_id) AS expected,
        coalesce(held, 0)::VARCHAR AS got
      FROM traces LEFT JOIN (SELECT trace_id, count(*) AS held FROM transactions GROUP BY trace_id) USING (trace_id)
      WHERE ${IN_RUN('mc_seqno_start', 'mc_seqno_end')} AND coalesce(held, 0) <> transactions`,
  },
  {
    pipeline: 'actions',
    with: ['transactions', 'traces'],
    sql: `SELECT [a.trace_mc_seqno_end] AS blame, concat('trace ', a.trace_id, ' of an action') AS expected, 'none' AS got
      FROM actions a ANTI JOIN traces t ON t.trace_id = a.trace_id
      WHERE ${IN_RUN('a.trace_mc_seqno_end', 'a.trace_mc_seqno_end')}
      UNION ALL
      SELECT [t.mc_seqno_end], concat('transaction ', a.hash, ' of an action'), 'none' FROM
        (SELECT trace_id, unnest(from_json(transactions, '["VARCHAR"]')) AS hash FROM actions) a
      JOIN traces t ON t.trace_id = a.trace_id ANTI JOIN transactions x ON x.hash = a.hash
      WHERE ${IN_RUN('t.mc_seqno_start', 't.mc_seqno_end')}`,
  },
  ...Object.entries(ORDERS).map(([pipeline, opcode]) => ({
    pipeline,
    with: ['transactions', 'messages'],
    sql: `SELECT [coalesce(m.tx_mc_block_seqno, run_to)] AS blame,
        concat('transaction ', j.tx_hash, ' that received ${opcode.toString(16)}') AS expected,
        coalesce(printf('%08x', m.opcode), 'none') AS got
      FROM ${pipeline} j JOIN windows ON j.tx_lt >= low AND j.tx_lt < high
      LEFT JOIN messages m ON m.tx_hash = j.tx_hash AND m.direction = 'in'
      WHERE m.opcode IS DISTINCT FROM ${opcode}`,
  })),
];

/** Compares a list with the transactions of the blocks that both hold. The views of all tables are set. */
export async function auditList(
  held: Held,
  { pipeline, sql }: ListAudit,
  blocks: TableDef,
  runs: readonly Span[],
): Promise<readonly Finding[]> {
  await setRuns(held, runs);
  await setHeaders(held, blocks);
  await setWindows(held);
  return groupBad({ kind: 'list', pipeline, table: pipeline }, await findBad(held, sql));
}

/**
 * Makes `windows`: of each run the logical times whose rows a walk by windows must have, and no block outside can have: from the
 * start of its first masterchain block to the least end of the newest blocks, where those cover every address.
 */
async function setWindows({ database }: Held): Promise<void> {
  await database.run(`CREATE OR REPLACE TEMP TABLE windows AS
    SELECT run, run_from, run_to, low, high FROM runs
    JOIN (SELECT run, min(start_lt) AS low FROM headers JOIN runs USING (run)
      WHERE workchain = -1 AND mc = run_from GROUP BY run) USING (run)
    JOIN (SELECT run, min(end_lt) AS high FROM ${TIPS} tips GROUP BY run
      HAVING sum(CASE WHEN workchain = 0 THEN hi - lo + 1 ELSE 0 END) = 18446744073709551616
        AND bool_or(workchain = -1)) USING (run)`);
}
