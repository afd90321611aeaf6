import { type ActionRow, isShown, supportedTypes } from '../actions/actions.ts';
import { type Account, addressOf } from '../chain/accounts.ts';
import { commentJson, type Operation, payloadOf } from '../chain/bodies.ts';
import { must } from '../chain/mix.ts';
import type { TransactionRow } from '../chain/model.ts';
import { endSeqno, type TraceRow } from '../chain/trace-index.ts';
import { type JsonRecord, textOf, Verbatim } from '../page/json.ts';
import type { Ask } from './ask.ts';
import { demand } from './errors.ts';
import { actionRecord, chainSource, traceRecord } from './event-records.ts';
import { type Endpoint, rows } from './list.ts';
import type { View } from './view.ts';

/** Maximum number of distinct transactions in one response. */
const MOST_TRANSACTIONS = 100;
const BROKEN = 'ERROR: missing FROM-clause entry for table (SQLSTATE 42P01)';

function accountsOf({ traces }: View, trace: TraceRow): readonly string[] {
  return traces.rowsOf(trace).map(({ account }) => account);
}

/** The traces with the ids, transactions, messages or the masterchain block of a request; undefined if it names none. */
function namedTraces(ask: Ask): readonly TraceRow[] | undefined {
  const { view } = ask;
  const { chain, traces } = view;
  const mcSeqno = ask.number('mc_seqno');
  if (!ask.has('trace_id', 'tx_hash', 'msg_hash')) return mcSeqno === undefined ? undefined : traces.endingIn(mcSeqno);
  const ids = ask.list('trace_id').flatMap((hash) => view.transactionByHash(hash) ?? []);
  const rows = [
    ...ids.filter(({ transaction }) => transaction.root === undefined),
    ...ask.list('tx_hash').flatMap((hash) => view.transactionByHash(hash) ?? []),
    ...ask.list('msg_hash').flatMap((hash) => {
      const row = view.messageByHash(hash);
      const transaction = row?.message.from ?? row?.message.to;
      return row && transaction ? [chain.row(row.template, transaction, row.epoch)] : [];
    }),
  ];
  return unique(rows.flatMap((row) => traces.of(row) ?? []));
}

function unique(traces: readonly TraceRow[]): readonly TraceRow[] {
  return [...new Map(traces.map((trace) => [`${trace.plan.root.id} ${trace.epoch}`, trace])).values()];
}

/** Whether ids replace the other filters. */
function isNamed(ask: Ask): boolean {
  return ask.has('action_id') || (ask.has('trace_id') && !ask.isGiven('account'));
}

/** Actions of traces that a request does not exclude by type, id or transaction. */
function classified(ask: Ask, traces: readonly TraceRow[]): readonly ActionRow[] {
  const { view, list } = ask;
  const [wanted, unwanted] = [new Set(list('action_type')), new Set(list('exclude_action_type'))];
  const [ids, hashes] = [new Set(list('action_id')), new Set(list('tx_hash'))];
  const supported = supportedTypes(list('supported_action_types'));
  const found = traces.filter((trace) => view.isComplete(trace)).flatMap((trace) => view.classified(trace));
  return found.filter(({ plan: { type, ancestors }, actionId, rows }) => {
    if (ids.size > 0 && !ids.has(actionId)) return false;
    if (ancestors.some((one) => supported.has(one))) return false;
    if (unwanted.has(type) || !(wanted.size > 0 ? wanted : supported).has(type)) return false;
    return hashes.size === 0 || rows.some((row) => hashes.has(view.chain.transactionHash(row)));
  });
}

/** Fails for combinations of filters for which the server builds invalid SQL. */
function refuseBroken(ask: Ask): void {
  const [account, transaction, message, block] = ['account', 'tx_hash', 'msg_hash', 'mc_seqno'].map((name) =>
    ask.has(name),
  );
  const byType = ask.has('action_type', 'exclude_action_type');
  const broken = ask.has('trace_id', 'action_id')
    ? byType
    : (account && (block || transaction || message)) || (transaction && (message || block));
  demand(broken !== true, BROKEN, 500);
}

interface OrderList {
  /** The server's name of the orders' opcode. */
  readonly opcode: string;
  /** Parameters for the contract that receives the order, and for its parent. */
  readonly names: readonly [contract: string, parent: string];
  /** Whether aborted orders are left out. */
  readonly isWhole?: true;
  readonly record: (row: TransactionRow, order: Partial<Operation>, ask: Ask) => JsonRecord;
}

/** Orders to token contracts, as their transactions show them. */
function orders({ opcode, names: [contract, parent], isWhole, record }: OrderList): Endpoint {
  const address = (ask: Ask, account: Account | undefined): string | undefined =>
    account && addressOf(account, 0, ask.view.chain.codec);
  const parties = (row: TransactionRow, ask: Ask): readonly (string | undefined)[] => {
    const [from, to] = [address(ask, senderOf(row)), address(ask, orderOf(row).to)];
    const direction = opcode === 'jetton_burn' ? undefined : ask.text('direction');
    if (direction === 'in') return [to];
    return direction === undefined || direction === 'both' ? [from, to] : [from];
  };
  return rows<TransactionRow>({
    rows: () => undefined,
    inSlot: ({ view }, slot) => view.chain.ordersIn(slot, opcode),
    where: {
      [contract]: ({ account }) => account,
      [parent]: (row, ask) => address(ask, row.transaction.account.parent),
    },
    at: ({ lt, now }) => [lt, now],
    keep: (row, ask) => {
      if (!ask.view.isVisible(row) || (isWhole === true && row.transaction.outcome.kind !== 'ok')) return false;
      const owners = [...ask.list('owner_address'), ...ask.list('address')];
      return owners.length === 0 || parties(row, ask).some((party) => party !== undefined && owners.includes(party));
    },
    order: ({ bounds }, sort) => [[({ lt, now }) => (bounds.byTime ? now : lt), sort]],
    record: (row, ask) => record(row, orderOf(row), ask),
  });
}

function happened({ view }: Ask, row: TransactionRow): JsonRecord {
  return {
    transaction_hash: view.chain.transactionHash(row),
    transaction_lt: String(row.lt),
    transaction_now: row.now,
    transaction_aborted: row.transaction.outcome.kind !== 'ok',
  };
}

function senderOf(row: TransactionRow): Account {
  return must(row.transaction.incoming?.source, 'sender of an order');
}

function parentOf(row: TransactionRow): Account {
  return must(row.transaction.account.parent, 'parent of a token contract');
}

function orderOf(row: TransactionRow): Partial<Operation> {
  return must(row.transaction.incoming?.body, 'order').values;
}

/** Traces, actions, and orders to token contracts. */
export const eventLists = {
  /** Complete traces by their end. */
  'GET /traces': rows<TraceRow>({
    refuse: (ask) => {
      const named = ['account', 'trace_id', 'tx_hash', 'msg_hash'].filter((name) => ask.has(name));
      demand(named.length <= 1, 'only one of account, trace_id, tx_hash, msg_hash should be specified');
      ask.view.requireTransactions(ask.number('mc_seqno'));
    },
    rows: namedTraces,
    inSlot: ({ view }, slot) => view.traces.endLtIn(slot),
    where: { account: (trace, { view }) => accountsOf(view, trace), mc_seqno: endSeqno },
    at: ({ endLt, endUtime }) => [endLt, endUtime],
    keep: (trace, { view }) => view.isComplete(trace),
    order: ({ view, bounds }, sort) => [
      [({ endLt, endUtime }) => (bounds.byTime ? endUtime : endLt), sort],
      [(trace) => view.actions.traceId(trace), sort],
    ],
    record: (trace, ask) => {
      const types = ask.isOn('include_actions') ? supportedTypes(ask.list('supported_action_types')) : undefined;
      const rows = types && ask.view.classified(trace).filter((row) => isShown(row, types));
      const ordered = rows?.sort((a, b) => a.startLt - b.startLt || a.endLt - b.endLt);
      return traceRecord(ask, trace, chainSource(ask, trace), ordered);
    },
  }),
  'GET /actions': rows<ActionRow>({
    refuse: (ask) => {
      for (const name of ['action_type', 'exclude_action_type']) {
        const isValid = ask.list(name).every((type) => /^[A-Za-z0-9_.]+$/.test(type));
        demand(isValid, `${name} contains invalid characters`);
      }
      refuseBroken(ask);
      if (!isNamed(ask)) ask.view.requireTransactions(ask.number('mc_seqno'));
    },
    rows: (ask) => {
      const found = ask.has('action_id')
        ? unique(ask.list('action_id').flatMap((hash) => ask.view.actions.traceOfAction(hash, ask.view.head()) ?? []))
        : namedTraces(ask);
      return found && classified(ask, found);
    },
    inSlot: (ask, slot) => classified(ask, ask.view.traces.endLtIn(slot)),
    where: {
      account: ({ trace }, { view }) => accountsOf(view, trace),
      mc_seqno: ({ trace }) => endSeqno(trace),
    },
    at: ({ trace }) => [trace.endLt, trace.endUtime],
    isReplaced: isNamed,
    order: (ask, sort) => {
      const byTime = ask.bounds.byTime && !isNamed(ask);
      return [
        [({ trace }) => (byTime ? trace.endUtime : trace.endLt), sort],
        [({ traceId }) => traceId, sort],
        [(row) => (byTime ? row.endUtime : row.endLt), sort],
        [({ actionId }) => actionId, sort],
      ];
    },
    record: (row, ask) => {
      for (const each of ask.isOn('include_transactions') ? row.rows : []) {
        if (ask.shown.size >= MOST_TRANSACTIONS) break;
        const text = textOf('Transaction', ask.transaction(each));
        ask.shown.set(ask.view.chain.transactionHash(each), new Verbatim(text));
      }
      return actionRecord(
        ask,
        row,
        chainSource(ask, row.trace),
        ask.isOn('include_transactions') ? ask.shown : undefined,
      );
    },
  }),
  /** Without aborted ones. */
  'GET /jetton/transfers': orders({
    opcode: 'jetton_transfer',
    names: ['jetton_wallet', 'jetton_master'],
    isWhole: true,
    record: (row, order, ask) => ({
      query_id: String(order.queryId),
      source: ask.meet(senderOf(row)),
      destination: ask.meet(must(order.to, 'new owner')),
      amount: String(order.amount ?? 0),
      source_wallet: ask.meet(row.transaction.account),
      jetton_master: ask.meet(parentOf(row)),
      ...happened(ask, row),
      response_destination: ask.meet(order.sender),
      forward_ton_amount: String(order.forward ?? 0),
      forward_payload: payloadOf(order),
      decoded_forward_payload: order.comment === undefined ? null : commentJson(order.comment),
      trace_id: ask.view.chain.traceId(row),
    }),
  }),
  /** Including aborted ones. */
  'GET /jetton/burns': orders({
    opcode: 'jetton_burn',
    names: ['jetton_wallet', 'jetton_master'],
    record: (row, order, ask) => ({
      query_id: String(order.queryId),
      owner: ask.meet(senderOf(row)),
      jetton_wallet: ask.meet(row.transaction.account),
      jetton_master: ask.meet(parentOf(row)),
      ...happened(ask, row),
      amount: String(order.amount ?? 0),
      response_destination: ask.meet(order.sender),
      trace_id: ask.view.chain.traceId(row),
    }),
  }),
  /** Including aborted ones. */
  'GET /nft/transfers': orders({
    opcode: 'nft_transfer',
    names: ['item_address', 'collection_address'],
    record: (row, order, ask) => ({
      query_id: String(order.queryId),
      nft_address: ask.meet(row.transaction.account),
      nft_collection: row.transaction.account.parent === undefined ? '' : ask.meet(parentOf(row)),
      ...happened(ask, row),
      old_owner: ask.meet(senderOf(row)),
      new_owner: ask.meet(must(order.to, 'new owner')),
      response_destination: ask.meet(order.sender),
      forward_amount: String(order.forward ?? 0),
      forward_payload: payloadOf(order),
      decoded_forward_payload: order.comment === undefined ? null : commentJson(order.comment),
      trace_id: ask.view.chain.traceId(row),
    }),
  }),
};
