import { type Message, masterchainSeqno, type Transaction } from '../chain/model.ts';
import { endSeqno, memberEpoch, type TraceRow } from '../chain/trace-index.ts';
import { type Json, type JsonRecord, jsonOf, Verbatim } from '../page/json.ts';
import type { Ask } from './ask.ts';
import type { View } from './view.ts';

/** What an unfinished trace shows differently. */
export interface Unfinished {
  readonly endSeqno: number;
  readonly rootKnown: boolean;
  readonly pendingMessages: number;
  readonly hashOf: (member: Transaction) => string;
  readonly textOf: (member: Transaction) => string;
}

/** The JSON of a trace; `actions` are those to show, if any. */
export function traceText(
  ask: Ask,
  trace: TraceRow,
  actions: readonly string[] | undefined,
  unfinished?: Unfinished,
): string {
  const { view } = ask;
  const { plan, epoch } = trace;
  const { template, root, members } = plan;
  const hashOf = unfinished?.hashOf ?? ((member: Transaction) => view.actions.hashOf(trace, member));
  const rows = members
    .map((transaction) => view.chain.row(template, transaction, memberEpoch(trace, transaction)))
    .sort((a, b) => a.lt - b.lt || (a.account < b.account ? -1 : 1));
  const first = view.chain.row(template, root, epoch);
  const texts = rows.map((row): [string, Json] => {
    const known = ask.transaction(row);
    return [hashOf(row.transaction), new Verbatim(unfinished?.textOf(row.transaction) ?? known)];
  });
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
    actions: actions?.map((text) => new Verbatim(text)),
    trace: nodeOf(view, trace, root, hashOf),
    transactions_order: rows.map((row) => hashOf(row.transaction)),
    transactions: Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return jsonOf(record);
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

function messageHash({ chain }: View, trace: TraceRow, message: Message): string {
  const epoch = memberEpoch(trace, message.from ?? trace.plan.root);
  return chain.messageHash({ template: trace.plan.template, message, epoch });
}
