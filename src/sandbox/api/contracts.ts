import { type Account, hasDomain } from '../chain/accounts.ts';
import { must } from '../chain/mix.ts';
import type { Quiet, QuietOrder } from '../chain/registry.ts';
import type { Json, JsonRecord } from '../page/json.ts';
import { bocOf } from './accounts.ts';
import { contains, demand, type Params } from './params.ts';
import type { Reply } from './reply.ts';
import type { View } from './view.ts';

const EXPIRES = 1_878_600_000;

/** `/dns/records`: by length of the domain, then by the domain. All errors have status 422. */
export function dnsRecords(reply: Reply): Buffer {
  const { view, params } = reply;
  const [wallet] = params.firstAddress('wallet');
  const domain = params.text('domain');
  demand(wallet !== undefined || domain !== undefined, 'either wallet address or domain is required');
  demand(wallet === undefined || domain === undefined, 'only one of wallet address or domain is allowed');
  const { limit, offset } = params.page(422);
  const rows = view.chain.registry.items
    .flatMap((item) => (item.domain === undefined ? [] : [{ item, name: item.domain, target: targetOf(item.account) }]))
    .filter(({ name, target }) => (domain === undefined ? target?.address === wallet : name === domain))
    .sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  const records = rows.slice(offset, offset + limit).map(({ item: { account }, name, target }) => ({
    nft_item_address: reply.meet(account),
    nft_item_owner: reply.meetOrNull(account.owner),
    domain: name,
    dns_next_resolver: account.index % 3 === 0 ? reply.meet(account) : null,
    dns_wallet: reply.meetOrNull(target),
    dns_site_adnl: account.index % 4 === 0 ? account.codeHash : null,
    dns_storage_bag_id: account.index % 5 === 0 ? account.codeHash : null,
  }));
  return reply.list('records', records, false);
}

/** The wallet that a domain resolves to. */
function targetOf(item: Account): Account | undefined {
  const { owner } = item;
  return owner !== undefined && (hasDomain(owner) || item.index % 2 === 0) ? owner : undefined;
}

/** `/multisig/wallets`, with their orders by default. */
export function multisigWallets(reply: Reply): Buffer {
  const { view, params } = reply;
  const [addresses, people] = [params.addressSet('address'), params.addressSet('wallet_address')];
  demand(addresses.size + people.size > 0, 'At least one of address or wallet_address should be specified');
  const orders = params.bool('include_orders') !== false;
  const found = view.chain.registry.multisigs.filter(
    ({ account, signers, proposers }) =>
      contains(addresses, account.address) &&
      [...signers, ...proposers].some(({ address }) => contains(people, address)),
  );
  const records = directed(params, found).map((one) => ({
    address: reply.meet(one.account),
    next_order_seqno: one.seqno,
    threshold: 2,
    signers: one.signers.map((account) => reply.meet(account)),
    proposers: one.proposers.map((account) => reply.meet(account)),
    ...version(view, one),
    orders: orders ? ordersOf(reply, one.orders) : [],
  }));
  return reply.list('multisigs', records, false);
}

function ordersOf(reply: Reply, orders: readonly QuietOrder[]): Json {
  return orders.length === 0 ? null : orders.map((order) => orderRecord(reply, order, false));
}

/** `/multisig/orders` */
export function multisigOrders(reply: Reply): Buffer {
  const { view, params } = reply;
  const [addresses, parents] = [params.addressSet('address'), params.addressSet('multisig_address')];
  demand(addresses.size + parents.size > 0, 'At least one of address or multisig_address should be specified');
  const parsed = params.bool('parse_actions') === true;
  const found = view.chain.registry.multisigs
    .flatMap((one) => one.orders)
    .filter(({ account }) => contains(addresses, account.address) && contains(parents, account.parent?.address));
  const records = directed(params, found).map((order) => orderRecord(reply, order, parsed));
  return reply.list('orders', records, false);
}

function directed<T>(params: Params, rows: readonly T[]): readonly T[] {
  const { limit, offset } = params.page();
  const ordered = params.sort() === 1 ? rows : [...rows].reverse();
  return ordered.slice(offset, offset + limit);
}

function orderRecord(reply: Reply, order: QuietOrder, parsed: boolean): JsonRecord {
  return {
    address: reply.meet(order.account),
    multisig_address: reply.meet(must(order.account.parent, 'multisig')),
    order_seqno: order.seqno === 3 ? String(2n ** 256n - 1n) : String(order.seqno),
    threshold: 2,
    sent_for_execution: order.approvals >= 2,
    approvals_mask: String(2 ** order.approvals - 1),
    approvals_num: order.approvals,
    expiration_date: EXPIRES,
    order_boc: bocOf(order.account.codeHash),
    signers: order.signers.map((account) => reply.meet(account)),
    ...version(reply.view, order),
    actions: parsed ? [orderAction(reply, order)] : null,
  };
}

function orderAction(reply: Reply, order: QuietOrder): JsonRecord {
  const to = must(order.signers[0], 'signer');
  const known = order.seqno % 2 === 0;
  return {
    destination: reply.meet(to),
    value: '100000000',
    body_raw: bocOf(order.account.codeHash),
    parsed: known,
    error: known ? null : 'unknown body',
    parsed_body: known
      ? { query_id: 18446744073709551615n, to_address: to.address ?? null, ton_amount: '1', jetton_amount: '2' }
      : { opcode: 4294967295, data: null },
    parsed_body_type: known ? 'jetton_mint' : 'unknown',
    send_mode: 3,
  };
}

function version(view: View, quiet: Quiet): JsonRecord {
  const state = view.latestStates.find(quiet.account.address ?? '');
  return {
    last_transaction_lt: String(quiet.lastLt),
    code_hash: quiet.account.codeHash,
    data_hash: state?.dataHash ?? null,
  };
}

/** `/vesting`: by row id. */
export function vesting(reply: Reply): Buffer {
  const { view, params } = reply;
  const [contracts, wallets] = [params.addressSet('contract_address'), params.addressSet('wallet_address')];
  demand(contracts.size + wallets.size > 0, 'at least one of contract_address or wallet_address is required');
  demand(contracts.size === 0 || wallets.size === 0, 'only one of contract_address or wallet_address is allowed');
  const { limit, offset } = params.page(422);
  const listed = params.bool('check_whitelist') === true;
  const found = view.chain.registry.vestings.filter(({ account, sender, owner, whitelist }) => {
    if (contracts.size > 0) return contracts.has(account.address ?? '');
    return [sender, owner, ...(listed ? whitelist : [])].some(({ address }) => wallets.has(address ?? ''));
  });
  const records = found.slice(offset, offset + limit).map(({ account, sender, owner, whitelist }) => ({
    address: reply.meet(account),
    start_time: 1_777_600_000,
    total_duration: 10_000_000,
    unlock_period: 100_000,
    cliff_duration: 0,
    sender_address: reply.meet(sender),
    owner_address: reply.meet(owner),
    total_amount: '100000000000000000000',
    whitelist: whitelist.map((one) => reply.meet(one)),
  }));
  return reply.list('vesting_contracts', records, false);
}
