import type { TableDef } from '../declare/table.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { setSureTimes } from './audit-headers.ts';
import { findBad, inRuns } from './audit-scope.ts';
import { sharedColumns } from './audit-transactions.ts';
import { type Finding, groupBad } from './finding.ts';

/** Links that cross the edges of the exported ranges, so that this warehouse cannot prove them. */
export interface DeepEdges {
  /** Transactions whose predecessor on the account is outside the ranges. */
  readonly transactionsBefore: number;
  /** Internal messages received inside the ranges and sent outside. */
  readonly messagesBefore: number;
  /** Internal messages sent inside the ranges and received outside. */
  readonly messagesAfter: number;
  /** Internal messages created by the protocol, which have no sender. */
  readonly messagesMinted: number;
}

const MADE_INSIDE = `EXISTS (FROM sure s WHERE s.workchain = mail.workchain AND mail.created_lt BETWEEN s.lt_from AND s.lt_to)`;

/**
 * Proves the chain of every account in `t`: each transaction names the previous one and starts with the state and status that it left,
 * which both have completely or as a hash. Proves that each internal message in `m` was sent exactly once and received at most once, with
 * the same values, and that those created inside the ranges were sent inside. Findings name the pipeline and the tables of transactions and
 * messages.
 */
export async function auditDeep(
  warehouse: DamagedStore,
  { pipeline, table, ends }: { readonly pipeline: string; readonly table: string; readonly ends: TableDef },
): Promise<{ readonly findings: readonly Finding[]; readonly edges: DeepEdges }> {
  await setSureTimes(warehouse);
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE chain AS SELECT *, CASE
      WHEN prev_lt >= lt THEN 'an earlier one'
      WHEN before_lt IS NULL AND prev_lt = 0 THEN NULL
      WHEN before_lt = prev_lt AND before_h = prev THEN CASE WHEN before_state <> state_before THEN 'state'
        WHEN before_status <> orig_status THEN 'status'
        WHEN before_state = state_before AND before_known <> known_before THEN 'known' END
      WHEN before_status = 'nonexist' AND prev_lt = 0 THEN NULL
      WHEN before_lt IS NOT NULL AND (before_run = run OR prev_lt <= before_lt) THEN 'link'
      WHEN EXISTS (FROM sure s WHERE s.workchain = c.workchain AND c.prev_lt BETWEEN s.lt_from AND s.lt_to) THEN 'none'
      ELSE 'outside' END AS verdict
    FROM (SELECT mc, run, workchain, lt, h, prev_lt, prev, state_before, orig_status, known_before, lag(mc) OVER w AS before_mc,
        lag(run) OVER w AS before_run, lag(lt) OVER w AS before_lt, lag(h) OVER w AS before_h,
        lag(state_after) OVER w AS before_state, lag(end_status) OVER w AS before_status, lag(known_after) OVER w AS before_known
      FROM t WINDOW w AS (PARTITION BY a ORDER BY lt)) c
    WHERE before_lt IS DISTINCT FROM prev_lt OR before_h IS DISTINCT FROM prev OR before_state IS DISTINCT FROM state_before
      OR before_status IS DISTINCT FROM orig_status OR before_known IS DISTINCT FROM known_before`);
  const links = await findBad(
    warehouse,
    `SELECT [coalesce(before_mc, mc), mc] AS blame,
       CASE WHEN verdict IN ('state', 'status') THEN concat('the transaction at ', lt, ' to begin with the ', verdict, ' after the one at ', before_lt)
         WHEN verdict = 'known' THEN concat('the account state between the transactions at ', before_lt, ' and ', lt, ' in both of them')
         WHEN verdict = 'none' THEN concat('the transaction at ', prev_lt, ' that the one at ', lt, ' follows')
         ELSE concat('the transaction at ', lt, ' to follow the one at ', coalesce(before_lt::VARCHAR, 'an earlier time')) END AS expected,
       CASE WHEN verdict IN ('state', 'status') THEN concat('another ', verdict) WHEN verdict = 'known' THEN 'its hash alone in one' WHEN verdict = 'none' THEN 'none'
         ELSE concat(CASE WHEN prev_lt = before_lt THEN 'another hash at ' ELSE '' END, prev_lt) END AS got
     FROM chain WHERE verdict NOT IN ('outside')`,
  );
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE mail AS SELECT * FROM (
      SELECT h, count(*) FILTER (NOT is_in) AS sent, count(*) FILTER (is_in) AS received, min(created_lt) AS created_lt,
        min(mc) AS mc_from, max(mc) AS mc_to, any_value(workchain) AS workchain, any_value(sender) AS sender,
        bool_or(is_minted) AS is_minted, min(shared) <> max(shared) AS differs
      FROM m WHERE is_internal GROUP BY h) WHERE sent <> 1 OR received <> 1 OR differs`);
  // A message should have been sent by the last transaction of its sender before it was created.
  const mail = await findBad(
    warehouse,
    `SELECT CASE WHEN sent = 0 THEN [coalesce(t.mc, mc_from)] ELSE [mc_from, mc_to] END AS blame,
       concat('the message made at ', created_lt, CASE WHEN sent = 0 THEN ' in what its sender sent' WHEN sent > 1 THEN ' sent once'
         ELSE ' received once' END) AS expected,
       CASE WHEN sent = 0 THEN 'none' WHEN sent > 1 THEN concat(sent, ' times') ELSE concat(received, ' times') END AS got
     FROM (FROM mail WHERE sent > 1 OR received > 1 OR (sent = 0 AND NOT is_minted AND ${MADE_INSIDE})) bad
     ASOF LEFT JOIN t ON bad.sender = t.a AND bad.created_lt > t.lt`,
  );
  const values = await findBad(
    warehouse,
    `SELECT list(mc) AS blame, concat('one ', concat_ws(', ', ${sharedColumns(ends)
      .map((name) => `CASE WHEN min(hash(${name})) <> max(hash(${name})) THEN '${name}' END`)
      .join(', ')}), ' of message ', msg_hash) AS expected, 'another at each end' AS got
     FROM ${inRuns(ends)} WHERE hash(msg_hash) IN (SELECT h FROM mail WHERE differs) GROUP BY msg_hash`,
  );
  const count = async (sql: string): Promise<number> => Number((await warehouse.database.query(sql)).rows[0]?.[0] ?? 0);
  const unsent = await count(
    `SELECT count(*)::INTEGER FROM mail WHERE sent = 0 AND NOT is_minted AND NOT ${MADE_INSIDE}`,
  );
  return {
    findings: [
      ...groupBad({ kind: 'account-chain', pipeline, table }, links),
      ...groupBad({ kind: 'message-ends', pipeline, table: ends.name }, [...mail, ...values]),
    ],
    edges: {
      transactionsBefore: await count("SELECT count(*)::INTEGER FROM chain WHERE verdict = 'outside'"),
      messagesBefore: unsent,
      messagesAfter: await count('SELECT count(*)::INTEGER FROM mail WHERE received = 0'),
      messagesMinted: await count('SELECT count(*)::INTEGER FROM mail WHERE sent = 0 AND is_minted'),
    },
  };
}
