import { type Account, addressOf } from '../chain/accounts.ts';
import type { TokenFacts } from '../chain/bodies.ts';
import type { TransactionRow } from '../chain/chain.ts';
import { must } from '../chain/mix.ts';
import { type OrderedRecord, orderedJson, Verbatim } from '../page/json.ts';
import type { Params } from './params.ts';
import { Reply } from './reply.ts';
import { scanSlots } from './scan.ts';
import type { View } from './view.ts';

type Keep = (row: TransactionRow, order: TokenFacts) => boolean;
type Write = (row: TransactionRow, order: TokenFacts, reply: Reply) => OrderedRecord;

/** `/jetton/transfers`: what jetton wallets were told to send, without the aborted. */
export function jettonTransfers(view: View, params: Params, shuffle: number): Buffer {
  const keep = tokenFilter(view, params, { wallets: 'jetton_wallet', parent: 'jetton_master' });
  const whole: Keep = (row, order) => row.transaction.outcome.kind === 'ok' && keep(row, order);
  return listed(view, params, shuffle, 'jetton_transfers', 'jetton_transfer', whole, (row, order, reply) => ({
    query_id: String(order.queryId),
    source: reply.meet(senderOf(row)),
    destination: reply.meet(must(order.to, 'new owner')),
    amount: String(order.amount),
    source_wallet: reply.meet(row.transaction.account),
    jetton_master: reply.meet(parentOf(row)),
    ...happened(view, row),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    forward_ton_amount: String(order.forward),
    forward_payload: order.payload() ?? null,
    decoded_forward_payload: decodedComment(order.comment),
    trace_id: view.traceId(row),
  }));
}

/** `/jetton/burns`, the aborted included. */
export function jettonBurns(view: View, params: Params, shuffle: number): Buffer {
  const keep = tokenFilter(view, params, { wallets: 'jetton_wallet', parent: 'jetton_master', undirected: true });
  return listed(view, params, shuffle, 'jetton_burns', 'jetton_burn', keep, (row, order, reply) => ({
    query_id: String(order.queryId),
    owner: reply.meet(senderOf(row)),
    jetton_wallet: reply.meet(row.transaction.account),
    jetton_master: reply.meet(parentOf(row)),
    ...happened(view, row),
    amount: String(order.amount),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    trace_id: view.traceId(row),
  }));
}

/** `/nft/transfers`, the aborted included. */
export function nftTransfers(view: View, params: Params, shuffle: number): Buffer {
  const keep = tokenFilter(view, params, { wallets: 'item_address', parent: 'collection_address' });
  return listed(view, params, shuffle, 'nft_transfers', 'nft_transfer', keep, (row, order, reply) => ({
    query_id: String(order.queryId),
    nft_address: reply.meet(row.transaction.account),
    nft_collection: row.transaction.account.parent === undefined ? '' : reply.meet(parentOf(row)),
    ...happened(view, row),
    old_owner: reply.meet(senderOf(row)),
    new_owner: reply.meet(must(order.to, 'new owner')),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    forward_amount: String(order.forward),
    forward_payload: order.payload() ?? null,
    decoded_forward_payload: decodedComment(order.comment),
    trace_id: view.traceId(row),
  }));
}

function happened(view: View, row: TransactionRow): OrderedRecord {
  return {
    transaction_hash: view.transactionHash(row),
    transaction_lt: String(row.lt),
    transaction_now: view.nowOf(row),
    transaction_aborted: row.transaction.outcome.kind !== 'ok',
  };
}

function decodedComment(comment: string | undefined): Verbatim | null {
  if (comment === undefined) return null;
  return new Verbatim(orderedJson({ '@type': 'text_comment', comment, type: 'text_comment' }));
}

function senderOf(row: TransactionRow): Account {
  return must(row.transaction.incoming?.source, 'sender of an order');
}

function parentOf(row: TransactionRow): Account {
  return must(row.transaction.account.parent, 'parent of a token contract');
}

interface Names {
  readonly wallets: string;
  readonly parent: string;
  readonly undirected?: boolean;
}

function tokenFilter(view: View, params: Params, names: Names): Keep {
  const owners = new Set([...params.addresses('owner_address'), ...params.firstAddress('address')]);
  const wallets = new Set(params.addresses(names.wallets));
  const [parent] = params.firstAddress(names.parent);
  const direction = names.undirected === true ? undefined : params.text('direction');
  const address = (account: Account | undefined): string =>
    account === undefined ? '' : addressOf(account, 0, view.chain.codec);
  const [startLt, endLt] = [params.lt('start_lt') ?? 0, params.lt('end_lt') ?? Number.MAX_SAFE_INTEGER];
  const [startUtime, endUtime] = [params.utime('start_utime') ?? 0, params.utime('end_utime') ?? 4294967295];
  return (row, order) => {
    if (row.lt < startLt || row.lt > endLt) return false;
    const now = view.nowOf(row);
    if (now < startUtime || now > endUtime || !view.isVisible(row)) return false;
    if (wallets.size > 0 && !wallets.has(row.account)) return false;
    if (parent !== undefined && address(row.transaction.account.parent) !== parent) return false;
    if (owners.size === 0) return true;
    const [sent, received] = [owners.has(address(senderOf(row))), owners.has(address(order.to))];
    if (direction === 'in') return received;
    return direction === undefined || direction === 'both' ? sent || received : sent;
  };
}

function listed(
  view: View,
  params: Params,
  shuffle: number,
  key: string,
  kind: TokenFacts['kind'],
  keep: Keep,
  write: Write,
): Buffer {
  const byTime = params.has('start_utime') || params.has('end_utime');
  const rows = scanSlots(view, params, {
    rowsIn: (slot) => view.chain.ordersIn(slot, kind).filter((row) => keep(row, orderOf(row))),
    keyOf: (row) => (byTime ? view.nowOf(row) : row.lt),
    byTime,
    sort: params.sort() ?? -1,
    shuffle,
  });
  const reply = new Reply(view, params);
  const texts = rows.map((row) => orderedJson(write(row, orderOf(row), reply)));
  return reply.list(key, texts, true);
}

function orderOf(row: TransactionRow): TokenFacts {
  return must(row.transaction.incoming?.body.order, 'order');
}
