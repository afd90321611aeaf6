import type { Account } from '../chain/accounts.ts';
import { hasDomain } from '../chain/accounts.ts';
import { must } from '../chain/mix.ts';
import type { Quiet, QuietMultisig, QuietOrder } from '../chain/registry.ts';
import { type Ordered, type OrderedRecord, orderedJson } from '../page/json.ts';
import { bocOf } from './accounts.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import { sets } from './tokens.ts';
import type { View } from './view.ts';

const EXPIRES = 1_878_600_000;

/** `/dns/records`: by length of the domain, then by the domain. Every failure is 422. */
export function dnsRecords(view: View, params: Params): Buffer {
  const [wallet] = params.firstAddress('wallet');
  const domain = params.text('domain');
  if (wallet === undefined && domain === undefined)
    throw new ApiError(422, 'either wallet address or domain is required');
  if (wallet !== undefined && domain !== undefined)
    throw new ApiError(422, 'only one of wallet address or domain is allowed');
  const { limit, offset } = params.page(422);
  const reply = new Reply(view, params);
  const rows = view.chain.registry.items
    .flatMap((item) => (item.domain === undefined ? [] : [{ item, name: item.domain, target: targetOf(item.account) }]))
    .filter(({ name, target }) => (domain === undefined ? target?.address === wallet : name === domain))
    .sort((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  const texts = rows.slice(offset, offset + limit).map(({ item, name, target }) =>
    orderedJson({
      nft_item_address: reply.meet(item.account),
      nft_item_owner: item.account.owner === undefined ? null : reply.meet(item.account.owner),
      domain: name,
      dns_next_resolver: item.account.index % 3 === 0 ? reply.meet(item.account) : null,
      dns_wallet: target === undefined ? null : reply.meet(target),
      dns_site_adnl: item.account.index % 4 === 0 ? item.account.codeHash : null,
      dns_storage_bag_id: item.account.index % 5 === 0 ? item.account.codeHash : null,
    }),
  );
  return reply.list('records', texts, false);
}

/** The wallet that a domain points to. */
function targetOf(item: Account): Account | undefined {
  const { owner } = item;
  return owner !== undefined && (hasDomain(owner) || item.index % 2 === 0) ? owner : undefined;
}

/** `/multisig/wallets`, with their orders unless these are switched off. */
export function multisigWallets(view: View, params: Params): Buffer {
  const [addresses, people] = [sets(params, 'address'), sets(params, 'wallet_address')];
  if (addresses.size + people.size === 0) {
    throw new ApiError(422, 'At least one of address or wallet_address should be specified');
  }
  const orders = params.bool('include_orders') !== false;
  const reply = new Reply(view, params);
  const found = view.chain.registry.multisigs.filter(
    (one) =>
      (addresses.size === 0 || addresses.has(one.account.address ?? '')) &&
      (people.size === 0 || [...one.signers, ...one.proposers].some(({ address }) => people.has(address ?? ''))),
  );
  const texts = directed(params, found).map((one) =>
    orderedJson({
      address: reply.meet(one.account),
      next_order_seqno: one.seqno,
      threshold: 2,
      signers: one.signers.map((account) => reply.meet(account)),
      proposers: one.proposers.map((account) => reply.meet(account)),
      ...version(view, one),
      orders: orders ? ordersOf(view, reply, one) : [],
    }),
  );
  return reply.list('multisigs', texts, false);
}

function ordersOf(view: View, reply: Reply, one: QuietMultisig): Ordered {
  return one.orders.length === 0 ? null : one.orders.map((order) => orderRecord(view, reply, order, false));
}

/** `/multisig/orders` */
export function multisigOrders(view: View, params: Params): Buffer {
  const [addresses, parents] = [sets(params, 'address'), sets(params, 'multisig_address')];
  if (addresses.size + parents.size === 0) {
    throw new ApiError(422, 'At least one of address or multisig_address should be specified');
  }
  const parsed = params.bool('parse_actions') === true;
  const reply = new Reply(view, params);
  const found = view.chain.registry.multisigs
    .flatMap((one) => one.orders)
    .filter(
      ({ account }) =>
        (addresses.size === 0 || addresses.has(account.address ?? '')) &&
        (parents.size === 0 || parents.has(account.parent?.address ?? '')),
    );
  const texts = directed(params, found).map((order) => orderedJson(orderRecord(view, reply, order, parsed)));
  return reply.list('orders', texts, false);
}

function directed<T>(params: Params, rows: readonly T[]): readonly T[] {
  const { limit, offset } = params.page();
  const ordered = params.sort() === 1 ? rows : [...rows].reverse();
  return ordered.slice(offset, offset + limit);
}

function orderRecord(view: View, reply: Reply, order: QuietOrder, parsed: boolean): OrderedRecord {
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
    ...version(view, order),
    actions: parsed ? [orderAction(reply, order)] : null,
  };
}

function orderAction(reply: Reply, order: QuietOrder): OrderedRecord {
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

function version(view: View, quiet: Quiet): OrderedRecord {
  const state = view.latestStates.find(quiet.account.address ?? '');
  return {
    last_transaction_lt: String(quiet.lastLt),
    code_hash: quiet.account.codeHash,
    data_hash: state?.dataHash ?? null,
  };
}

/** `/vesting`: by row id. */
export function vesting(view: View, params: Params): Buffer {
  const [contracts, wallets] = [sets(params, 'contract_address'), sets(params, 'wallet_address')];
  if (contracts.size + wallets.size === 0) {
    throw new ApiError(422, 'at least one of contract_address or wallet_address is required');
  }
  if (contracts.size > 0 && wallets.size > 0) {
    throw new ApiError(422, 'only one of contract_address or wallet_address is allowed');
  }
  const { limit, offset } = params.page(422);
  const listed = params.bool('check_whitelist') === true;
  const reply = new Reply(view, params);
  const found = view.chain.registry.vestings.filter(({ account, sender, owner, whitelist }) => {
    if (contracts.size > 0) return contracts.has(account.address ?? '');
    return [sender, owner, ...(listed ? whitelist : [])].some(({ address }) => wallets.has(address ?? ''));
  });
  const texts = found.slice(offset, offset + limit).map(({ account, sender, owner, whitelist }) =>
    orderedJson({
      address: reply.meet(account),
      start_time: 1_777_600_000,
      total_duration: 10_000_000,
      unlock_period: 100_000,
      cliff_duration: 0,
      sender_address: reply.meet(sender),
      owner_address: reply.meet(owner),
      total_amount: '100000000000000000000',
      whitelist: whitelist.map((one) => reply.meet(one)),
    }),
  );
  return reply.list('vesting_contracts', texts, false);
}
