import { type Account, hasDomain, walletKind } from '../chain/accounts.ts';
import { toBoc } from '../chain/cell.ts';
import { hasAny } from '../chain/description.ts';
import type { Quiet, QuietMultisig, QuietOrder, QuietVesting } from '../chain/registry.ts';
import { interfacesOf } from '../page/addresses.ts';
import type { Json, JsonRecord } from '../page/json.ts';
import type { Ask } from './ask.ts';
import { demand } from './errors.ts';
import type { LatestState } from './latest-states.ts';
import { byId, type Listing, rows } from './list.ts';

const EXPIRES = 1_878_600_000;
const VESTING_START = 1_777_600_000;

/** The latest states of the addresses of a request, in no order. */
const askedStates: Pick<Listing<LatestState>, 'refuse' | 'rows' | 'where' | 'order'> = {
  refuse: (ask) => demand(ask.has('address'), 'address of account is required'),
  rows: ({ view, list }) => [...new Set(list('address'))].flatMap((address) => view.latestStates.find(address) ?? []),
  where: { code_hash: ({ code }) => code?.hash },
  order: () => [],
};

/** The wallet that a domain resolves to. */
function targetOf({ account: { owner, index } }: Quiet): Account | undefined {
  return owner !== undefined && (hasDomain(owner) || index % 2 === 0) ? owner : undefined;
}

function ordersOf({ orders }: QuietMultisig, ask: Ask): Json {
  return orders.length === 0 ? null : orders.map((order) => orderRecord(order, ask));
}

function orderRecord(order: QuietOrder, ask: Ask): JsonRecord {
  return {
    address: ask.meet(order.account),
    multisig_address: ask.meet(order.account.parent),
    order_seqno: order.seqno === 3 ? String(2n ** 256n - 1n) : String(order.seqno),
    threshold: 2,
    sent_for_execution: order.approvals >= 2,
    approvals_mask: String(2 ** order.approvals - 1),
    approvals_num: order.approvals,
    expiration_date: EXPIRES,
    order_boc: toBoc(order.account.code),
    signers: order.signers.map((account) => ask.meet(account)),
    ...version(ask, order),
    actions: ask.isOn('parse_actions') ? [orderAction(order, ask)] : null,
  };
}

function orderAction(order: QuietOrder, ask: Ask): JsonRecord {
  const [to] = order.signers;
  const known = order.seqno % 2 === 0;
  return {
    destination: ask.meet(to),
    value: '100000000',
    body_raw: toBoc(order.account.code),
    parsed: known,
    error: known ? null : 'unknown body',
    parsed_body: known
      ? { query_id: 18446744073709551615n, to_address: to?.address ?? null, ton_amount: '1', jetton_amount: '2' }
      : { opcode: 4294967295, data: null },
    parsed_body_type: known ? 'jetton_mint' : 'unknown',
    send_mode: 3,
  };
}

function version({ view }: Ask, { account, lastLt }: Quiet): JsonRecord {
  const state = view.latestStates.find(account.address ?? '');
  return { last_transaction_lt: String(lastLt), code_hash: account.codeHash, data_hash: state?.data?.hash ?? null };
}

/** Latest states of accounts, and contracts of services. */
export const stateLists = {
  /** Without unknown addresses. */
  'GET /accountStates': rows<LatestState>({
    ...askedStates,
    record: (state, ask) => {
      const { account, code, data } = state;
      const bocs = ask.text('include_boc') !== 'false';
      ask.meet(account, state.row?.epoch);
      return {
        address: state.address,
        account_state_hash: state.stateHash,
        balance: String(state.balance),
        extra_currencies: state.extra,
        status: state.status,
        frozen_hash: state.frozenHash,
        last_transaction_hash: state.lastHash(),
        last_transaction_lt: String(state.lastLt),
        data_hash: data?.hash,
        code_hash: code?.hash,
        data_boc: bocs && data !== undefined && account.index % 11 !== 5 ? toBoc(data) : undefined,
        code_boc: bocs && code !== undefined ? toBoc(code) : undefined,
        contract_methods: account.role === 'system' || code === undefined ? null : [78748, 85143, 81467],
        interfaces: interfacesOf(account),
      };
    },
  }),
  'GET /walletStates': rows<LatestState>({
    ...askedStates,
    record: (state, ask) => {
      const { extra, status } = state;
      ask.meet(state.account, state.row?.epoch);
      const kind = status === 'active' ? walletKind(state.account) : undefined;
      return {
        address: state.address,
        is_wallet: kind !== undefined,
        wallet_type: kind?.type,
        seqno: kind && ask.view.latestStates.walletSeqno(state),
        wallet_id: kind?.id,
        balance: String(state.balance),
        extra_currencies: hasAny(extra) ? extra : undefined,
        is_signature_allowed: kind?.type === 'wallet v5 r1' ? true : undefined,
        status,
        code_hash: state.code?.hash,
        last_transaction_hash: state.lastHash(),
        last_transaction_lt: String(state.lastLt),
      };
    },
  }),
  /** Equal balances in no order. */
  'GET /topAccountsByBalance': rows<LatestState>({
    rows: ({ view }) => view.latestStates.all(),
    order: () => [[({ balance }) => balance, -1]],
    record: ({ address, balance }) => ({ account: address, balance: String(balance) }),
  }),
  'GET /dns/records': rows<Quiet>({
    refuse: (ask) => {
      const [wallet, domain] = [ask.has('wallet'), ask.has('domain')];
      demand(wallet || domain, 'either wallet address or domain is required');
      demand(!wallet || !domain, 'only one of wallet address or domain is allowed');
    },
    rows: ({ view }) => view.chain.registry.items.filter(({ domain }) => domain !== undefined),
    where: { domain: ({ domain }) => domain, wallet: (item) => targetOf(item)?.address },
    order: () => [
      [({ domain }) => domain?.length ?? 0, 1],
      [({ domain }) => domain ?? '', 1],
    ],
    record: (item, ask) => ({
      nft_item_address: ask.meet(item.account),
      nft_item_owner: ask.meet(item.account.owner),
      domain: item.domain,
      dns_next_resolver: item.account.index % 3 === 0 ? ask.meet(item.account) : null,
      dns_wallet: ask.meet(targetOf(item)),
      dns_site_adnl: item.account.index % 4 === 0 ? item.account.codeHash : null,
      dns_storage_bag_id: item.account.index % 5 === 0 ? item.account.codeHash : null,
    }),
  }),
  /** With their orders by default. */
  'GET /multisig/wallets': rows<QuietMultisig>({
    refuse: (ask) => {
      const isNamed = ask.has('address', 'wallet_address');
      demand(isNamed, 'At least one of address or wallet_address should be specified');
    },
    rows: ({ view }) => view.chain.registry.multisigs,
    order: (ask, sort) => [byId(ask, sort)],
    where: {
      address: ({ account }) => account.address,
      wallet_address: ({ signers, proposers }) => [...signers, ...proposers].map(({ address }) => address),
    },
    record: (one, ask) => ({
      address: ask.meet(one.account),
      next_order_seqno: one.seqno,
      threshold: 2,
      signers: one.signers.map((account) => ask.meet(account)),
      proposers: one.proposers.map((account) => ask.meet(account)),
      ...version(ask, one),
      orders: ask.text('include_orders') === 'false' ? [] : ordersOf(one, ask),
    }),
  }),
  'GET /multisig/orders': rows<QuietOrder>({
    refuse: (ask) => {
      const isNamed = ask.has('address', 'multisig_address');
      demand(isNamed, 'At least one of address or multisig_address should be specified');
    },
    rows: ({ view }) => view.chain.registry.multisigs.flatMap(({ orders }) => orders),
    order: (ask, sort) => [byId(ask, sort)],
    where: { address: ({ account }) => account.address, multisig_address: ({ account }) => account.parent?.address },
    record: orderRecord,
  }),
  /** By row id. */
  'GET /vesting': rows<QuietVesting>({
    refuse: (ask) => {
      const [contract, wallet] = [ask.has('contract_address'), ask.has('wallet_address')];
      demand(contract || wallet, 'at least one of contract_address or wallet_address is required');
      demand(!contract || !wallet, 'only one of contract_address or wallet_address is allowed');
    },
    rows: ({ view }) => view.chain.registry.vestings,
    where: {
      contract_address: ({ account }) => account.address,
      wallet_address: ({ sender, owner, whitelist }, ask) =>
        [sender, owner, ...(ask.isOn('check_whitelist') ? whitelist : [])].map(({ address }) => address),
    },
    record: ({ account, sender, owner, whitelist }, ask) => ({
      address: ask.meet(account),
      start_time: VESTING_START,
      total_duration: 10_000_000,
      unlock_period: 100_000,
      cliff_duration: 0,
      sender_address: ask.meet(sender),
      owner_address: ask.meet(owner),
      total_amount: '100000000000000000000',
      whitelist: whitelist.map((one) => ask.meet(one)),
    }),
  }),
};
