import { supportedTypes } from '../actions/sets.ts';
import { type Message, masterchainSeqno, type Transaction, type TransactionRow } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, memberEpoch, type TraceRow } from '../chain/trace-index.ts';
import { type Json, type JsonRecord, jsonOf, Verbatim } from '../page/json.ts';
import { demand, type Params, within } from './params.ts';
import type { Reply } from './reply.ts';
import { scanSlots } from './scan.ts';
import type { View } from './view.ts';

/** `/traces`: complete traces by their end. */
export function traces(reply: Reply): Buffer {
  const { view, params } = reply;
  const mcSeqno = params.int32('mc_seqno');
  const named = ['account', 'trace_id', 'tx_hash', 'msg_hash'].filter((name) => params.text(name) !== undefined);
  demand(named.length <= 1, 'only one of account, trace_id, tx_hash, msg_hash should be specified');
  const keys = traceKeys(view, params);
  const keep = traceFilter(view, params);
  if (mcSeqno !== undefined) view.requireTransactions(mcSeqno);
  const { byTime } = params.bounds();
  const direct = keys ?? (mcSeqno === undefined ? undefined : view.traces.endingIn(mcSeqno));
  const rows = scanSlots<TraceRow>(reply, {
    rowsIn: (slot) => view.traces.endLtIn(slot).filter(keep),
    direct: direct?.filter((trace) => keep(trace) && (mcSeqno === undefined || endSeqno(trace) === mcSeqno)),
    keyOf: (trace) => (byTime ? trace.endUtime : trace.endLt),
    tieOf: (trace) => view.actions.hashOf(trace, trace.plan.root),
    byTime,
  });
  const types =
    params.bool('include_actions') === true ? supportedTypes(params.texts('supported_action_types')) : undefined;
  const texts = rows.map((trace) => traceText(reply, trace, types));
  return reply.list('traces', texts, true);
}

/** The traces with these ids, transactions or messages; undefined if the request names none. */
export function traceKeys(view: View, params: Params): readonly TraceRow[] | undefined {
  const [roots, transactions, messages] = [
    params.hashes('trace_id'),
    params.hashes('tx_hash'),
    params.hashes('msg_hash'),
  ];
  if (roots.length + transactions.length + messages.length === 0) return undefined;
  const byHash = (hash: Buffer): TransactionRow | undefined => view.chain.transactionByHash(hash);
  const byMessage = (hash: Buffer): TransactionRow | undefined => {
    const row = view.chain.messageByHash(hash);
    const transaction = row?.message.from ?? row?.message.to;
    return row && transaction && view.chain.row(row.template, transaction, row.epoch);
  };
  const rows = [
    ...roots.map(byHash).filter((row) => row?.transaction.root === undefined),
    ...transactions.map(byHash),
    ...messages.map(byMessage),
  ];
  const found = rows.flatMap((row) => (row && view.traces.of(row)) ?? []);
  return [...new Map(found.map((trace) => [view.actions.hashOf(trace, trace.plan.root), trace])).values()];
}

/** Whether a trace is complete, within the bounds, and of the account that is asked for. */
export function traceFilter(view: View, params: Params): (trace: TraceRow) => boolean {
  const [account] = params.firstAddress('account');
  const bounds = params.bounds();
  const known = account === undefined ? undefined : view.chain.accountOf(account);
  return (trace) => {
    if (!within(bounds, trace.endLt, trace.endUtime) || !view.isComplete(trace)) return false;
    if (account === undefined) return true;
    return trace.plan.members.some(
      (member) =>
        member.account === known?.account && (known.epoch === undefined || known.epoch === memberEpoch(trace, member)),
    );
  };
}

/** What an unfinished trace shows differently. */
export interface Unfinished {
  readonly endSeqno: number;
  readonly rootKnown: boolean;
  readonly pendingMessages: number;
  readonly actions: readonly string[];
  readonly hashOf: (member: Transaction) => string;
  readonly textOf: (member: Transaction) => string;
}

/** The JSON of a trace, with its actions of certain types. */
export function traceText(
  reply: Reply,
  trace: TraceRow,
  types: ReadonlySet<string> | undefined,
  unfinished?: Unfinished,
): string {
  const { view } = reply;
  const { plan, epoch } = trace;
  const { template, root, members } = plan;
  const hashOf = unfinished?.hashOf ?? ((member: Transaction) => view.actions.hashOf(trace, member));
  const rows = members
    .map((transaction) => view.chain.row(template, transaction, memberEpoch(trace, transaction)))
    .sort((a, b) => a.lt - b.lt || (a.account < b.account ? -1 : 1));
  for (const row of rows) reply.meetTransaction(row);
  const first = view.chain.row(template, root, epoch);
  const texts = rows.map((row): [string, Json] => [
    hashOf(row.transaction),
    new Verbatim(unfinished?.textOf(row.transaction) ?? view.transactionText(row)),
  ]);
  const record: JsonRecord = {
    trace_id: unfinished?.rootKnown === false ? null : hashOf(root),
    external_hash: view.actions.externalHashes(trace)['trace_external_hash'] ?? null,
    mc_seqno_start: String(Math.min(masterchainSeqno(first), unfinished?.endSeqno ?? Number.MAX_SAFE_INTEGER)),
    mc_seqno_end: String(unfinished?.endSeqno ?? endSeqno(trace)),
    start_lt: String(first.lt),
    start_utime: first.now,
    end_lt: String(trace.endLt),
    end_utime: trace.endUtime,
    trace_info: {
      trace_state: unfinished === undefined ? 'complete' : 'pending',
      messages: members.reduce((sum, member) => sum + member.outgoing.length, root.incoming === undefined ? 0 : 1),
      transactions: members.length,
      pending_messages: unfinished?.pendingMessages ?? 0,
      classification_state: unfinished === undefined ? 'unclassified' : 'ok',
    },
    is_incomplete: false,
    actions: (unfinished?.actions ?? actionTexts(reply, trace, types))?.map((text) => new Verbatim(text)),
    trace: nodeOf(view, trace, root, hashOf),
    transactions_order: rows.map((row) => hashOf(row.transaction)),
    transactions: Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return jsonOf(record);
}

function actionTexts(
  reply: Reply,
  trace: TraceRow,
  types: ReadonlySet<string> | undefined,
): readonly string[] | undefined {
  if (types === undefined) return undefined;
  return reply.view
    .classified(trace)
    .filter(({ plan }) => types.has(plan.type) && !plan.ancestors.some((type) => types.has(type)))
    .sort((a, b) => a.startLt - b.startLt || a.endLt - b.endLt)
    .map((row) => reply.view.actions.text(row, { meet: reply.meet }));
}

function nodeOf(view: View, trace: TraceRow, member: Transaction, hashOf: (member: Transaction) => string): JsonRecord {
  const children = trace.plan.members
    .filter((other) => other.incoming?.from === member)
    .map((other) => nodeOf(view, trace, other, hashOf));
  const { incoming } = member;
  return {
    tx_hash: hashOf(member),
    in_msg_hash: incoming === undefined ? undefined : messageHash(view, trace, incoming),
    children: children.length > 0 ? children : member.outgoing.length === 0 ? [] : null,
  };
}

function messageHash(view: View, trace: TraceRow, message: Message): string {
  const epoch = memberEpoch(trace, message.from ?? trace.plan.root);
  return view.chain.codec.hash(trace.plan.template.family, HASH_KIND.message, message.id, epoch);
}
