import { type Account, addressOf } from '../chain/accounts.ts';
import type { TokenFacts } from '../chain/bodies.ts';
import { must } from '../chain/mix.ts';
import type { TransactionRow } from '../chain/model.ts';
import type { JsonRecord } from '../page/json.ts';
import { within } from './params.ts';
import type { Reply } from './reply.ts';
import { scanSlots } from './scan.ts';
import type { View } from './view.ts';

type Keep = (row: TransactionRow, order: TokenFacts) => boolean;
type Write = (row: TransactionRow, order: TokenFacts) => JsonRecord;

/** `/jetton/transfers`: orders to jetton wallets, without aborted ones. */
export function jettonTransfers(reply: Reply): Buffer {
  const keep = tokenFilter(reply, { wallets: 'jetton_wallet', parent: 'jetton_master' });
  const whole: Keep = (row, order) => row.transaction.outcome.kind === 'ok' && keep(row, order);
  return listed(reply, 'jetton_transfers', 'jetton_transfer', whole, (row, order) => ({
    query_id: String(order.queryId),
    source: reply.meet(senderOf(row)),
    destination: reply.meet(must(order.to, 'new owner')),
    amount: String(order.amount),
    source_wallet: reply.meet(row.transaction.account),
    jetton_master: reply.meet(parentOf(row)),
    ...happened(reply.view, row),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    forward_ton_amount: String(order.forward),
    forward_payload: order.payload() ?? null,
    decoded_forward_payload: decodedComment(order.comment),
    trace_id: reply.view.traceId(row),
  }));
}

/** `/jetton/burns`, including aborted ones. */
export function jettonBurns(reply: Reply): Buffer {
  const keep = tokenFilter(reply, { wallets: 'jetton_wallet', parent: 'jetton_master', undirected: true });
  return listed(reply, 'jetton_burns', 'jetton_burn', keep, (row, order) => ({
    query_id: String(order.queryId),
    owner: reply.meet(senderOf(row)),
    jetton_wallet: reply.meet(row.transaction.account),
    jetton_master: reply.meet(parentOf(row)),
    ...happened(reply.view, row),
    amount: String(order.amount),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    trace_id: reply.view.traceId(row),
  }));
}

/** `/nft/transfers`, including aborted ones. */
export function nftTransfers(reply: Reply): Buffer {
  const keep = tokenFilter(reply, { wallets: 'item_address', parent: 'collection_address' });
  return listed(reply, 'nft_transfers', 'nft_transfer', keep, (row, order) => ({
    query_id: String(order.queryId),
    nft_address: reply.meet(row.transaction.account),
    nft_collection: row.transaction.account.parent === undefined ? '' : reply.meet(parentOf(row)),
    ...happened(reply.view, row),
    old_owner: reply.meet(senderOf(row)),
    new_owner: reply.meet(must(order.to, 'new owner')),
    response_destination: reply.meet(order.response),
    custom_payload: null,
    decoded_custom_payload: null,
    forward_amount: String(order.forward),
    forward_payload: order.payload() ?? null,
    decoded_forward_payload: decodedComment(order.comment),
    trace_id: reply.view.traceId(row),
  }));
}

function happened(view: View, row: TransactionRow): JsonRecord {
  return {
    transaction_hash: view.transactionHash(row),
    transaction_lt: String(row.lt),
    transaction_now: row.now,
    transaction_aborted: row.transaction.outcome.kind !== 'ok',
  };
}

function decodedComment(comment: string | undefined): JsonRecord | null {
  if (comment === undefined) return null;
  return { '@type': 'text_comment', comment, type: 'text_comment' };
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

function tokenFilter({ view, params }: Reply, names: Names): Keep {
  const owners = new Set([...params.addresses('owner_address'), ...params.firstAddress('address')]);
  const wallets = new Set(params.addresses(names.wallets));
  const [parent] = params.firstAddress(names.parent);
  const direction = names.undirected === true ? undefined : params.text('direction');
  const address = (account: Account | undefined): string =>
    account === undefined ? '' : addressOf(account, 0, view.chain.codec);
  const bounds = params.bounds();
  return (row, order) => {
    if (!within(bounds, row.lt, row.now) || !view.isVisible(row)) return false;
    if (wallets.size > 0 && !wallets.has(row.account)) return false;
    if (parent !== undefined && address(row.transaction.account.parent) !== parent) return false;
    if (owners.size === 0) return true;
    const [sent, received] = [owners.has(address(senderOf(row))), owners.has(address(order.to))];
    if (direction === 'in') return received;
    return direction === undefined || direction === 'both' ? sent || received : sent;
  };
}

function listed(reply: Reply, key: string, name: string, keep: Keep, write: Write): Buffer {
  const { view, params } = reply;
  const { byTime } = params.bounds();
  const rows = scanSlots<TransactionRow>(reply, {
    rowsIn: (slot) => view.chain.ordersIn(slot, name).filter((row) => keep(row, orderOf(row))),
    keyOf: (row) => (byTime ? row.now : row.lt),
    byTime,
  });
  const records = rows.map((row) => write(row, orderOf(row)));
  return reply.list(key, records, true);
}

function orderOf(row: TransactionRow): TokenFacts {
  return must(row.transaction.incoming?.body.facts.order, 'order');
}
