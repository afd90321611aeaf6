import type { enums } from '../../../api/facts.ts';
import type { ActionRow } from '../actions/actions.ts';
import { addressOf } from '../chain/accounts.ts';
import { byLtAndAccount } from '../chain/chain.ts';
import { masterchainSeqno, type Transaction, type TransactionRow } from '../chain/model.ts';
import { endSeqno, type TraceRow } from '../chain/trace-index.ts';
import type { Json, JsonRecord } from '../page/json.ts';
import type { ParsedRequest } from './parsed-request.ts';

/** The origin of a trace's record: the chain, or the store of pending traces. */
export interface TraceSource {
  readonly hashOf: (row: TransactionRow) => string;
  /** The record of a transaction, whose accounts are added to the address book. */
  readonly recordOf: (row: TransactionRow) => JsonRecord;
  readonly endSeqno: number;
  /** False while the first transaction is only predicted: the trace has no id yet. */
  readonly isRootKnown: boolean;
  readonly finality: (typeof enums.finality)[number];
  /** True if actions have their accounts. */
  readonly hasAccounts: boolean;
  /** Undefined for a complete trace. */
  readonly pendingMessages: number | undefined;
}

export function chainSource(request: ParsedRequest, trace: TraceRow): TraceSource {
  return {
    hashOf: (row) => request.view.chain.transactionHash(row),
    recordOf: (row) => request.transaction(row),
    endSeqno: endSeqno(trace),
    isRootKnown: true,
    finality: 'finalized',
    hasAccounts: request.isOn('include_accounts'),
    pendingMessages: undefined,
  };
}

/** The record of a trace; `actions` are those to show, if any. */
export function traceRecord(
  request: ParsedRequest,
  trace: TraceRow,
  source: TraceSource,
  actions: readonly ActionRow[] | undefined,
): JsonRecord {
  const { view } = request;
  const { root, members } = trace.plan;
  const { hashOf, isRootKnown, pendingMessages } = source;
  const rows = [...view.traces.rowsOf(trace)].sort(byLtAndAccount);
  const [first] = view.traces.rowsOf(trace, [root]) as [TransactionRow];
  const hashes = new Map(rows.map((row) => [row.transaction, hashOf(row)]));
  const shown = rows.map((row) => [hashOf(row), source.recordOf(row)] as const);
  const nodeOf = (member: Transaction): JsonRecord => {
    const children = members.filter((other) => other.incoming?.from === member).map(nodeOf);
    return {
      tx_hash: hashes.get(member),
      in_msg_hash: member.incoming && view.chain.messageHash(view.traces.messageOf(trace, member.incoming)),
      children: children.length > 0 ? children : member.outgoing.length === 0 ? [] : null,
    };
  };
  return {
    trace_id: isRootKnown ? hashes.get(root) : null,
    external_hash: view.actions.externalHashes(trace).trace_external_hash,
    mc_seqno_start: String(Math.min(masterchainSeqno(first), source.endSeqno)),
    mc_seqno_end: String(source.endSeqno),
    start_lt: String(first.lt),
    start_utime: first.now,
    end_lt: String(trace.endLt),
    end_utime: trace.endUtime,
    trace_info: {
      trace_state: pendingMessages === undefined ? 'complete' : 'pending',
      messages: members.reduce((sum, member) => sum + member.outgoing.length, root.incoming === undefined ? 0 : 1),
      transactions: members.length,
      pending_messages: pendingMessages ?? 0,
      classification_state: pendingMessages === undefined ? 'unclassified' : 'ok',
    },
    is_incomplete: false,
    actions: actions?.map((row) => actionRecord(request, row, source)),
    trace: nodeOf(root),
    transactions_order: [...hashes.values()],
    transactions: Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The record of an action. @param shown transactions by hash, to show those of the action */
export function actionRecord(
  request: ParsedRequest,
  row: ActionRow,
  source: TraceSource,
  shown?: ReadonlyMap<string, Json>,
): JsonRecord {
  const { trace, plan, rows } = row;
  const { finality } = source;
  const hashes = rows.map(source.hashOf).reverse();
  const accounts = [...new Set(rows.map(({ transaction, epoch }) => request.addAccount(transaction.account, epoch)))];
  const details = plan.details?.((account) => request.addAccount(account, trace.epoch), trace.epoch);
  const external = request.view.actions.externalHashes(trace);
  const record = {
    trace_id: source.isRootKnown ? row.traceId : null,
    action_id: row.actionId,
    start_lt: String(row.startLt),
    end_lt: String(row.endLt),
    start_utime: row.startUtime,
    end_utime: row.endUtime,
    trace_end_lt: String(trace.endLt),
    trace_end_utime: trace.endUtime,
    trace_mc_seqno_end: source.endSeqno,
    transactions: hashes,
    success: plan.success,
    type: plan.shownType,
    details: details ?? { error: 'details are not supported' },
    ...external,
    accounts: source.hasAccounts ? accounts : undefined,
    transactions_full: shown && hashes.map((hash) => shown.get(hash)).filter((one) => one !== undefined),
    finality,
  };
  if (details !== undefined) return record;
  // The row of the action in the database of the server.
  const { account, incoming } = trace.plan.root;
  const raw = {
    TraceId: row.traceId,
    ActionId: row.actionId,
    StartLt: row.startLt,
    EndLt: row.endLt,
    StartUtime: row.startUtime,
    EndUtime: row.endUtime,
    TraceEndLt: trace.endLt,
    TraceEndUtime: trace.endUtime,
    TraceMcSeqnoEnd: source.endSeqno,
    Source: addressOf(account, trace.epoch, request.view.chain.codec),
    Opcode: incoming?.body.opcode,
    TxHashes: hashes,
    Type: plan.type,
    Success: plan.success,
    Finality: finality,
    TraceExternalHash: external.trace_external_hash,
    TraceExternalHashNorm: external.trace_external_hash_norm,
    AncestorType: plan.ancestors,
    Accounts: accounts,
  };
  return { ...record, raw_action: raw };
}
