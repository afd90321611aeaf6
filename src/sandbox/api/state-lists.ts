import { type Account, hasDomain } from '../chain/accounts.ts';
import { toBoc } from '../chain/cell.ts';
import { hasAny } from '../chain/description.ts';
import type { Quiet, QuietMultisig, QuietOrder, QuietVesting } from '../chain/quiet-contracts.ts';
import { interfacesOf } from '../page/addresses.ts';
import type { Json, JsonRecord } from '../page/json.ts';
import { demand } from './api-error.ts';
import { type LatestState, versionOf } from './latest-states.ts';
import { byId, type Listing, rows } from './list.ts';
import type { ParsedRequest } from './parsed-request.ts';

const EXPIRES = 1_878_600_000;
const VESTING_START = 1_777_600_000;

/** The latest states of the addresses of a request, in no order. */
const requestedStates: Pick<Listing<LatestState>, 'refuse' | 'rows' | 'where' | 'order'> = {
  refuse: (request) => demand(request.has('address'), 'address of account is required'),
  rows: ({ view, list }) => [...new Set(list('address'))].flatMap((address) => view.latestStates.find(address) ?? []),
  where: { code_hash: ({ code }) => code?.hash },
  order: () => [],
};

/** The wallet that a domain resolves to. */
function targetOf({ account: { owner, index } }: Quiet): Account | undefined {
  return owner !== undefined && (hasDomain(owner) || index % 2 === 0) ? owner : undefined;
}

/** Null if there are none. */
function orderRecords({ orders }: QuietMultisig, request: ParsedRequest): Json {
  return orders.length === 0 ? null : orders.map((order) => orderRecord(order, request));
}

function orderRecord(order: QuietOrder, request: ParsedRequest): JsonRecord {
  return {
    address: request.addAccount(order.account),
    multisig_address: request.addAccount(order.account.parent),
    order_seqno: order.seqno === 3 ? String(2n ** 256n - 1n) : String(order.seqno),
    threshold: 2,
    sent_for_execution: order.approvals >= 2,
    approvals_mask: String(2 ** order.approvals - 1),
    approvals_num: order.approvals,
    expiration_date: EXPIRES,
    order_boc: toBoc(order.account.code),
    signers: order.signers.map((account) => request.addAccount(account)),
    ...versionOf(request.view.latestStates.ofQuiet(order)),
    actions: request.isOn('parse_actions') ? [orderAction(order, request)] : null,
  };
}

function orderAction(order: QuietOrder, request: ParsedRequest): JsonRecord {
  const [to] = order.signers;
  const known = order.seqno % 2 === 0;
  return {
    destination: request.addAccount(to),
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

/** Latest states of accounts, and contracts of services. */
export const stateLists = {
  /** Without unknown addresses. */
  'GET /accountStates': rows<LatestState>({
    ...requestedStates,
    record: (state, request) => {
      const { account, code, data } = state;
      const bocs = request.isOn('include_boc');
      request.addAccount(account, state.row?.epoch);
      return {
        address: state.address,
        account_state_hash: state.stateHash,
        balance: String(state.balance),
        extra_currencies: state.extra,
        status: state.status,
        frozen_hash: state.frozenHash,
        last_transaction_hash: state.lastHash(),
        ...versionOf(state),
        data_boc: bocs && data !== undefined && account.index % 11 !== 5 ? toBoc(data) : undefined,
        code_boc: bocs && code !== undefined ? toBoc(code) : undefined,
        contract_methods: account.role === 'system' || code === undefined ? null : [78748, 85143, 81467],
        interfaces: interfacesOf(account),
      };
    },
  }),
  'GET /walletStates': rows<LatestState>({
    ...requestedStates,
    record: (state, request) => {
      const { extra } = state;
      request.addAccount(state.account, state.row?.epoch);
      const wallet = request.view.latestStates.walletFields(state);
      return {
        address: state.address,
        is_wallet: wallet !== undefined,
        ...wallet,
        balance: String(state.balance),
        extra_currencies: hasAny(extra) ? extra : undefined,
        is_signature_allowed: wallet?.wallet_type === 'wallet v5 r1' ? true : undefined,
        status: state.status,
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
    refuse: (request) => {
      const [wallet, domain] = [request.has('wallet'), request.has('domain')];
      demand(wallet || domain, 'either wallet address or domain is required');
      demand(!wallet || !domain, 'only one of wallet address or domain is allowed');
    },
    rows: ({ view }) => view.chain.quietContracts.items.filter(({ domain }) => domain !== undefined),
    where: { domain: ({ domain }) => domain, wallet: (item) => targetOf(item)?.address },
    order: () => [
      [({ domain }) => domain?.length ?? 0, 1],
      [({ domain }) => domain ?? '', 1],
    ],
    record: (item, request) => ({
      nft_item_address: request.addAccount(item.account),
      nft_item_owner: request.addAccount(item.account.owner),
      domain: item.domain,
      dns_next_resolver: item.account.index % 3 === 0 ? request.addAccount(item.account) : null,
      dns_wallet: request.addAccount(targetOf(item)),
      dns_site_adnl: item.account.index % 4 === 0 ? item.account.code.hash : null,
      dns_storage_bag_id: item.account.index % 5 === 0 ? item.account.code.hash : null,
    }),
  }),
  /** With their orders by default. */
  'GET /multisig/wallets': rows<QuietMultisig>({
    refuse: (request) => {
      const isNamed = request.has('address', 'wallet_address');
      demand(isNamed, 'At least one of address or wallet_address should be specified');
    },
    rows: ({ view }) => view.chain.quietContracts.multisigs,
    order: (request, sort) => [byId(request, sort)],
    where: {
      address: ({ account }) => account.address,
      wallet_address: ({ signers, proposers }) => [...signers, ...proposers].map(({ address }) => address),
    },
    record: (one, request) => ({
      address: request.addAccount(one.account),
      next_order_seqno: one.seqno,
      threshold: 2,
      signers: one.signers.map((account) => request.addAccount(account)),
      proposers: one.proposers.map((account) => request.addAccount(account)),
      ...versionOf(request.view.latestStates.ofQuiet(one)),
      orders: request.isOn('include_orders') ? orderRecords(one, request) : [],
    }),
  }),
  'GET /multisig/orders': rows<QuietOrder>({
    refuse: (request) => {
      const isNamed = request.has('address', 'multisig_address');
      demand(isNamed, 'At least one of address or multisig_address should be specified');
    },
    rows: ({ view }) => view.chain.quietContracts.multisigs.flatMap(({ orders }) => orders),
    order: (request, sort) => [byId(request, sort)],
    where: { address: ({ account }) => account.address, multisig_address: ({ account }) => account.parent?.address },
    record: orderRecord,
  }),
  /** By row id. */
  'GET /vesting': rows<QuietVesting>({
    refuse: (request) => {
      const [contract, wallet] = [request.has('contract_address'), request.has('wallet_address')];
      demand(contract || wallet, 'at least one of contract_address or wallet_address is required');
      demand(!contract || !wallet, 'only one of contract_address or wallet_address is allowed');
    },
    rows: ({ view }) => view.chain.quietContracts.vestings,
    where: {
      contract_address: ({ account }) => account.address,
      wallet_address: ({ sender, owner, whitelist }, request) =>
        [sender, owner, ...(request.isOn('check_whitelist') ? whitelist : [])].map(({ address }) => address),
    },
    record: ({ account, sender, owner, whitelist }, request) => ({
      address: request.addAccount(account),
      start_time: VESTING_START,
      total_duration: 10_000_000,
      unlock_period: 100_000,
      cliff_duration: 0,
      sender_address: request.addAccount(sender),
      owner_address: request.addAccount(owner),
      total_amount: '100000000000000000000',
      whitelist: whitelist.map((one) => request.addAccount(one)),
    }),
  }),
};
