import { type ActionRow, isShown, supportedTypes } from '../actions/actions.ts';
import { type Account, addressOf } from '../chain/accounts.ts';
import { commentJson, type Operation, payloadOf } from '../chain/bodies.ts';
import { cached, must } from '../chain/mix.ts';
import type { TransactionRow } from '../chain/model.ts';
import { endSeqno, type TraceRow } from '../chain/trace-index.ts';
import { type JsonRecord, textOf, Verbatim } from '../page/json.ts';
import { demand } from './api-error.ts';
import { actionRecord, chainSource, traceRecord } from './event-records.ts';
import { type Endpoint, rows } from './list.ts';
import type { ParsedRequest } from './parsed-request.ts';
import type { View } from './view.ts';

/** Maximum number of distinct transactions in one response. */
const MAX_TRANSACTIONS = 100;
const BROKEN = 'ERROR: missing FROM-clause entry for table (SQLSTATE 42P01)';

function accountsOf({ traces }: View, trace: TraceRow): readonly string[] {
  return traces.rowsOf(trace).map(({ account }) => account);
}

/** The traces with the ids, transactions, messages or the masterchain block of a request; undefined if it names none. */
function namedTraces(request: ParsedRequest): readonly TraceRow[] | undefined {
  const { view } = request;
  const { chain, traces } = view;
  const mcSeqno = request.number('mc_seqno');
  if (!request.has('trace_id', 'tx_hash', 'msg_hash'))
    return mcSeqno === undefined ? undefined : traces.endingIn(mcSeqno);
  const ids = request.list('trace_id').flatMap((hash) => view.transactionByHash(hash) ?? []);
  const rows = [
    ...ids.filter(({ transaction }) => transaction.root === undefined),
    ...request.list('tx_hash').flatMap((hash) => view.transactionByHash(hash) ?? []),
    ...request.list('msg_hash').flatMap((hash) => {
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

/** True if ids replace the other filters. */
function isNamed(request: ParsedRequest): boolean {
  return request.has('action_id') || (request.has('trace_id') && !request.isGiven('account'));
}

/** Actions of traces that a request does not exclude by type, id or transaction. */
function classified(request: ParsedRequest, traces: readonly TraceRow[]): readonly ActionRow[] {
  const { view, list } = request;
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
function refuseBroken(request: ParsedRequest): void {
  const [account, transaction, message, block] = ['account', 'tx_hash', 'msg_hash', 'mc_seqno'].map((name) =>
    request.has(name),
  );
  const byType = request.has('action_type', 'exclude_action_type');
  const broken = request.has('trace_id', 'action_id')
    ? byType
    : (account && (block || transaction || message)) || (transaction && (message || block));
  demand(broken !== true, BROKEN, 500);
}

interface OrderList {
  /** The server's name of the orders' opcode. */
  readonly opcode: string;
  /** Parameters for the contract that receives the order, and for its parent. */
  readonly names: readonly [contract: string, parent: string];
  /** True if aborted orders are left out. */
  readonly isWhole?: true;
  /** The fields that other orders do not have. */
  readonly record: (row: TransactionRow, order: Partial<Operation>, request: ParsedRequest) => JsonRecord;
}

/** Orders to token contracts, as their transactions show them. */
function orders({ opcode, names: [contract, parent], isWhole, record }: OrderList): Endpoint {
  const address = (request: ParsedRequest, account: Account | undefined): string | undefined =>
    account && addressOf(account, 0, request.view.chain.codec);
  const parties = (row: TransactionRow, request: ParsedRequest): readonly (string | undefined)[] => {
    const [from, to] = [address(request, senderOf(row)), address(request, orderOf(row).to)];
    const direction = opcode === 'jetton_burn' ? undefined : request.text('direction');
    if (direction === 'in') return [to];
    return direction === undefined || direction === 'both' ? [from, to] : [from];
  };
  return rows<TransactionRow>({
    rows: () => undefined,
    inSlot: ({ view }, slot) => view.chain.ordersIn(slot, opcode),
    where: {
      [contract]: ({ account }) => account,
      [parent]: (row, request) => address(request, row.transaction.account.parent),
    },
    at: ({ lt, now }) => [lt, now],
    filter: (row, request) => {
      if (!request.view.isVisible(row) || (isWhole === true && row.transaction.outcome.kind !== 'ok')) return false;
      const owners = [...request.list('owner_address'), ...request.list('address')];
      return (
        owners.length === 0 || parties(row, request).some((party) => party !== undefined && owners.includes(party))
      );
    },
    order: ({ bounds }, sort) => [[({ lt, now }) => (bounds.byTime ? now : lt), sort]],
    record: (row, request) => {
      const { chain } = request.view;
      const order = orderOf(row);
      return {
        query_id: String(order.queryId),
        transaction_hash: chain.transactionHash(row),
        transaction_lt: String(row.lt),
        transaction_now: row.now,
        transaction_aborted: row.transaction.outcome.kind !== 'ok',
        response_destination: request.addAccount(order.sender),
        trace_id: chain.traceId(row),
        ...record(row, order, request),
      };
    },
  });
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
    refuse: (request) => {
      const named = ['account', 'trace_id', 'tx_hash', 'msg_hash'].filter((name) => request.has(name));
      demand(named.length <= 1, 'only one of account, trace_id, tx_hash, msg_hash should be specified');
      request.view.requireTransactions(request.number('mc_seqno'));
    },
    rows: namedTraces,
    inSlot: ({ view }, slot) => view.traces.endLtIn(slot),
    where: { account: (trace, { view }) => accountsOf(view, trace), mc_seqno: endSeqno },
    at: ({ endLt, endUtime }) => [endLt, endUtime],
    filter: (trace, { view }) => view.isComplete(trace),
    order: ({ view, bounds }, sort) => [
      [({ endLt, endUtime }) => (bounds.byTime ? endUtime : endLt), sort],
      [(trace) => view.actions.traceId(trace), sort],
    ],
    record: (trace, request) => {
      const types = request.isOn('include_actions')
        ? supportedTypes(request.list('supported_action_types'))
        : undefined;
      const rows = types && request.view.classified(trace).filter((row) => isShown(row, types));
      const ordered = rows?.sort((a, b) => a.startLt - b.startLt || a.endLt - b.endLt);
      return traceRecord(request, trace, chainSource(request, trace), ordered);
    },
  }),
  'GET /actions': rows<ActionRow>({
    refuse: (request) => {
      for (const name of ['action_type', 'exclude_action_type']) {
        const isValid = request.list(name).every((type) => /^[A-Za-z0-9_.]+$/.test(type));
        demand(isValid, `${name} contains invalid characters`);
      }
      refuseBroken(request);
      if (!isNamed(request)) request.view.requireTransactions(request.number('mc_seqno'));
    },
    rows: (request) => {
      const found = request.has('action_id')
        ? unique(
            request
              .list('action_id')
              .flatMap((hash) => request.view.actions.traceOfAction(hash, request.view.head()) ?? []),
          )
        : namedTraces(request);
      return found && classified(request, found);
    },
    inSlot: (request, slot) => classified(request, request.view.traces.endLtIn(slot)),
    where: {
      account: ({ trace }, { view }) => accountsOf(view, trace),
      mc_seqno: ({ trace }) => endSeqno(trace),
    },
    at: ({ trace }) => [trace.endLt, trace.endUtime],
    isReplaced: isNamed,
    order: (request, sort) => {
      const byTime = request.bounds.byTime && !isNamed(request);
      return [
        [({ trace }) => (byTime ? trace.endUtime : trace.endLt), sort],
        [({ traceId }) => traceId, sort],
        [(row) => (byTime ? row.endUtime : row.endLt), sort],
        [({ actionId }) => actionId, sort],
      ];
    },
    record: (row, request) => {
      const source = chainSource(request, row.trace);
      if (!request.isOn('include_transactions')) return actionRecord(request, row, source);
      const texts = request.transactionTexts;
      for (const each of row.rows) {
        if (texts.size >= MAX_TRANSACTIONS) break;
        cached(texts, source.hashOf(each), () => new Verbatim(textOf('Transaction', source.recordOf(each))));
      }
      return actionRecord(request, row, source, texts);
    },
  }),
  /** Without aborted ones. */
  'GET /jetton/transfers': orders({
    opcode: 'jetton_transfer',
    names: ['jetton_wallet', 'jetton_master'],
    isWhole: true,
    record: (row, order, request) => ({
      source: request.addAccount(senderOf(row)),
      destination: request.addAccount(must(order.to, 'new owner')),
      amount: String(order.amount ?? 0),
      source_wallet: request.addAccount(row.transaction.account),
      jetton_master: request.addAccount(parentOf(row)),
      forward_ton_amount: String(order.forward ?? 0),
      forward_payload: payloadOf(order),
      decoded_forward_payload: order.comment === undefined ? null : commentJson(order.comment),
    }),
  }),
  /** Including aborted ones. */
  'GET /jetton/burns': orders({
    opcode: 'jetton_burn',
    names: ['jetton_wallet', 'jetton_master'],
    record: (row, order, request) => ({
      owner: request.addAccount(senderOf(row)),
      jetton_wallet: request.addAccount(row.transaction.account),
      jetton_master: request.addAccount(parentOf(row)),
      amount: String(order.amount ?? 0),
    }),
  }),
  /** Including aborted ones. */
  'GET /nft/transfers': orders({
    opcode: 'nft_transfer',
    names: ['item_address', 'collection_address'],
    record: (row, order, request) => ({
      nft_address: request.addAccount(row.transaction.account),
      nft_collection: row.transaction.account.parent === undefined ? '' : request.addAccount(parentOf(row)),
      old_owner: request.addAccount(senderOf(row)),
      new_owner: request.addAccount(must(order.to, 'new owner')),
      forward_amount: String(order.forward ?? 0),
      forward_payload: payloadOf(order),
      decoded_forward_payload: order.comment === undefined ? null : commentJson(order.comment),
    }),
  }),
};
