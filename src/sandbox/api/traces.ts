import { supportedTypes } from '../actions/sets.ts';
import { utimeOf } from '../chain/clock.ts';
import type { Message, Transaction } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, endSlot, memberEpoch, type TraceRow } from '../chain/trace-index.ts';
import { type Ordered, type OrderedRecord, orderedJson, Verbatim } from '../page/json.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import { scanSlots, sorted } from './scan.ts';
import type { View } from './view.ts';

/** `/traces`: complete traces by their end. */
export function traces(view: View, params: Params): Buffer {
  const mcSeqno = params.int32('mc_seqno');
  const named = ['account', 'trace_id', 'tx_hash', 'msg_hash'].filter((name) => params.text(name) !== undefined);
  if (named.length > 1) {
    throw new ApiError(422, 'only one of account, trace_id, tx_hash, msg_hash should be specified');
  }
  const keys = traceKeys(view, params);
  const keep = traceFilter(view, params);
  if (mcSeqno !== undefined && !view.hasTransactions(mcSeqno)) {
    throw new ApiError(404, `masterchain block ${mcSeqno} not found`);
  }
  const byTime = params.has('start_utime') || params.has('end_utime');
  const order = {
    keyOf: (trace: TraceRow) => (byTime ? utimeOf(endSlot(trace)) : trace.endLt),
    tieOf: (trace: TraceRow) => view.actions.hashOf(trace, trace.plan.root),
    sort: params.sort() ?? -1,
    shuffle: 0,
  } as const;
  const { limit, offset } = params.page();
  const direct = keys ?? (mcSeqno === undefined ? undefined : view.chain.traces.endingIn(mcSeqno));
  const inBlock = (trace: TraceRow): boolean => mcSeqno === undefined || endSeqno(trace) === mcSeqno;
  const rows =
    direct === undefined
      ? scanSlots(view, params, { ...order, byTime, rowsIn: (slot) => view.chain.traces.endLtIn(slot).filter(keep) })
      : sorted(
          direct.filter((trace) => keep(trace) && inBlock(trace)),
          order,
        ).slice(offset, offset + limit);
  const reply = new Reply(view, params);
  const types =
    params.bool('include_actions') === true ? supportedTypes(params.texts('supported_action_types')) : undefined;
  return reply.list(
    'traces',
    rows.map((trace) => traceText(view, reply, trace, types)),
    true,
  );
}

/** The traces that are named by their own hash, by a transaction's or by a message's; undefined when none is named. */
export function traceKeys(view: View, params: Params): readonly TraceRow[] | undefined {
  const [roots, transactions, messages] = [
    params.hashes('trace_id'),
    params.hashes('tx_hash'),
    params.hashes('msg_hash'),
  ];
  if (roots.length + transactions.length + messages.length === 0) return undefined;
  const found = new Map<string, TraceRow>();
  const add = (trace: TraceRow | undefined): void => {
    if (trace !== undefined) found.set(view.actions.hashOf(trace, trace.plan.root), trace);
  };
  for (const hash of roots) {
    const row = view.chain.transactionByHash(hash);
    if (row !== undefined && row.transaction.root === undefined) add(view.chain.traces.of(row));
  }
  for (const hash of transactions) {
    const row = view.chain.transactionByHash(hash);
    if (row !== undefined) add(view.chain.traces.of(row));
  }
  for (const hash of messages) {
    const row = view.chain.messageByHash(hash);
    const transaction = row?.message.from ?? row?.message.to;
    if (row !== undefined && transaction !== undefined) {
      add(view.chain.traces.of(view.chain.row(row.template, transaction, row.epoch)));
    }
  }
  return [...found.values()];
}

/** Whether a trace is complete and within the bounds and the account that are asked for. */
export function traceFilter(view: View, params: Params): (trace: TraceRow) => boolean {
  const [account] = params.firstAddress('account');
  const [startLt, endLt] = [params.lt('start_lt') ?? 0, params.lt('end_lt') ?? Number.MAX_SAFE_INTEGER];
  const [startUtime, endUtime] = [params.utime('start_utime') ?? 0, params.utime('end_utime') ?? 4294967295];
  const known = account === undefined ? undefined : view.chain.accountOf(account);
  return (trace) => {
    if (trace.endLt < startLt || trace.endLt > endLt || !view.isIndexed(endSeqno(trace))) return false;
    const utime = utimeOf(endSlot(trace));
    if (utime < startUtime || utime > endUtime) return false;
    if (account === undefined) return true;
    return trace.plan.members.some(
      (member) =>
        member.account === known?.account && (known.epoch === undefined || known.epoch === memberEpoch(trace, member)),
    );
  };
}

/** What a trace on its way to the chain shows differently. */
export interface Unfinished {
  readonly endSeqno: number;
  readonly rootKnown: boolean;
  readonly pendingMessages: number;
  readonly actions: readonly string[];
  readonly hashOf: (member: Transaction) => string;
  readonly textOf: (member: Transaction) => string;
}

/** The JSON of a trace; `types` are those of the actions that are listed with it. */
export function traceText(
  view: View,
  reply: Reply,
  trace: TraceRow,
  types: ReadonlySet<string> | undefined,
  unfinished?: Unfinished,
): string {
  const { plan, epoch } = trace;
  const { template, root, members } = plan;
  const hashOf = unfinished?.hashOf ?? ((member: Transaction) => view.actions.hashOf(trace, member));
  const rows = members
    .map((transaction) => view.chain.row(template, transaction, memberEpoch(trace, transaction)))
    .sort((a, b) => a.lt - b.lt || (a.account < b.account ? -1 : 1));
  for (const row of rows) view.addresses.meetTransaction(reply.met, row.transaction, row.epoch);
  const first = view.chain.row(template, root, epoch);
  const texts = rows.map((row): [string, Ordered] => [
    hashOf(row.transaction),
    new Verbatim(unfinished?.textOf(row.transaction) ?? view.transactionText(row)),
  ]);
  const record: OrderedRecord = {
    trace_id: unfinished?.rootKnown === false ? null : hashOf(root),
    external_hash: view.actions.externalHashes(trace)['trace_external_hash'] ?? null,
    mc_seqno_start: String(Math.min(view.masterchainSeqno(first), unfinished?.endSeqno ?? Number.MAX_SAFE_INTEGER)),
    mc_seqno_end: String(unfinished?.endSeqno ?? endSeqno(trace)),
    start_lt: String(first.lt),
    start_utime: view.nowOf(first),
    end_lt: String(trace.endLt),
    end_utime: utimeOf(endSlot(trace)),
    trace_info: {
      trace_state: unfinished === undefined ? 'complete' : 'pending',
      messages: members.reduce((sum, member) => sum + member.outgoing.length, root.incoming === undefined ? 0 : 1),
      transactions: members.length,
      pending_messages: unfinished?.pendingMessages ?? 0,
      classification_state: unfinished === undefined ? 'unclassified' : 'ok',
    },
    is_incomplete: false,
    actions: (unfinished?.actions ?? actionTexts(view, reply, trace, types))?.map((text) => new Verbatim(text)),
    trace: nodeOf(view, trace, root, hashOf),
    transactions_order: rows.map((row) => hashOf(row.transaction)),
    transactions: Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return orderedJson(record);
}

function actionTexts(
  view: View,
  reply: Reply,
  trace: TraceRow,
  types: ReadonlySet<string> | undefined,
): readonly string[] | undefined {
  if (types === undefined) return undefined;
  const around = {
    meet: (account: Transaction['account'], epoch: number) => reply.meet(account, epoch),
    traceEndUtime: utimeOf(endSlot(trace)),
    traceEndSeqno: endSeqno(trace),
    accounts: false,
    transactions: undefined,
  };
  return view
    .classified(trace)
    .filter(({ plan }) => types.has(plan.type) && !plan.ancestors.some((type) => types.has(type)))
    .sort((a, b) => a.startLt - b.startLt || a.endLt - b.endLt)
    .map((row) => view.actions.text(row, around));
}

function nodeOf(
  view: View,
  trace: TraceRow,
  member: Transaction,
  hashOf: (member: Transaction) => string,
): OrderedRecord {
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
