import { type Account, walletKind } from '../chain/accounts.ts';
import { parseAddress } from '../chain/address.ts';
import { byteBits, cell, toBoc } from '../chain/cell.ts';
import type { Extra } from '../chain/model.ts';
import type { Met } from '../page/addresses.ts';
import { type JsonRecord, jsonOf } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { contains, demand, type Params } from './params.ts';
import type { Reply } from './reply.ts';
import { shuffled, sorted } from './scan.ts';
import type { View } from './view.ts';

/** Maximum number of rows for a list of addresses. */
const MOST_ROWS = 1000;
const NO_HASH = `${'A'.repeat(43)}=`;

/** `/accountStates`: in no order, without unknown addresses. */
export function accountStates(reply: Reply): Buffer {
  const bocs = reply.params.bool('include_boc') !== false;
  const records = asked(reply).map((state) => fullState(reply, state, bocs));
  return reply.list('accounts', records, true);
}

/** `/walletStates` */
export function walletStates(reply: Reply): Buffer {
  const records = asked(reply).map((state) => {
    const { address, extra, status, balance, codeHash } = state;
    reply.meet(state.account, state.row?.epoch);
    const kind = status === 'active' ? walletKind(state.account) : undefined;
    return {
      address,
      is_wallet: kind !== undefined,
      wallet_type: kind?.type,
      seqno: kind && reply.view.latestStates.walletSeqno(state),
      wallet_id: kind?.id,
      balance: String(balance),
      extra_currencies: extra.size === 0 ? undefined : extraRecord(extra),
      is_signature_allowed: kind?.type === 'wallet v5 r1' ? true : undefined,
      status,
      code_hash: codeHash,
      last_transaction_hash: state.lastHash,
      last_transaction_lt: String(state.lastLt),
    };
  });
  return reply.list('wallets', records, true);
}

/** The latest states of the addresses of a request, in no order. */
function asked({ view, params, shuffle }: Reply): readonly LatestState[] {
  const addresses = params.addressSet('address');
  demand(addresses.size > 0, 'address of account is required');
  const codes = new Set(params.hashes('code_hash').map((hash) => hash.toString('base64')));
  const found = [...addresses]
    .flatMap((address) => view.latestStates.find(address) ?? [])
    .filter(({ codeHash }) => contains(codes, codeHash));
  return shuffled(found, shuffle).slice(0, MOST_ROWS);
}

function fullState(reply: Reply, state: LatestState, bocs: boolean): JsonRecord {
  const { account, codeHash, dataHash } = state;
  reply.meet(account, state.row?.epoch);
  return {
    address: state.address,
    account_state_hash: state.stateHash,
    balance: String(state.balance),
    extra_currencies: extraRecord(state.extra),
    status: state.status,
    frozen_hash: state.frozenHash,
    last_transaction_hash: state.lastHash,
    last_transaction_lt: String(state.lastLt),
    data_hash: dataHash,
    code_hash: codeHash,
    data_boc: bocs && dataHash !== undefined && account.index % 11 !== 5 ? bocOf(dataHash) : undefined,
    code_boc: bocs && codeHash !== undefined ? bocOf(codeHash) : undefined,
    contract_methods: account.role === 'system' || codeHash === undefined ? null : [78748, 85143, 81467],
    interfaces: reply.view.addresses.interfacesOf(account),
  };
}

function extraRecord(extra: Extra): JsonRecord {
  return Object.fromEntries([...extra.keys()].sort().map((key) => [key, String(extra.get(key))]));
}

/** A bag of one cell in place of the cells with this hash; its own hash differs. */
export function bocOf(hash: string): string {
  return toBoc(cell(byteBits(Buffer.from(hash, 'base64').subarray(0, 24))));
}

/** `/addressBook`: keys are the addresses as given. */
export function addressBook({ view, params }: Reply): string {
  const rows = [...new Set(requiredTexts(params))].sort().map((text): [string, JsonRecord] => {
    const address = parseAddress(text);
    if (address === undefined) return [text, { user_friendly: null, domain: null, interfaces: null }];
    return [text, view.addresses.rowOf(address, accountOf(view, address))];
  });
  return jsonOf(Object.fromEntries(rows));
}

function requiredTexts(params: Params): readonly string[] {
  const texts = params.texts('address');
  demand(texts.length > 0, 'at least 1 address required');
  return texts;
}

/** `/metadata`: token contracts only; invalid addresses are left out. */
export function metadata({ view, params }: Reply): string {
  const met: Met = new Map();
  for (const text of requiredTexts(params)) {
    const address = parseAddress(text);
    const account = address === undefined ? undefined : accountOf(view, address);
    if (address !== undefined && account !== undefined) met.set(address, account);
  }
  return view.addresses.metadataText(met);
}

function accountOf(view: View, address: string): Account | undefined {
  return view.chain.registry.find(address)?.account ?? view.chain.accountOf(address)?.account;
}

/** `/topAccountsByBalance`: an array; equal balances in no order. */
export function topAccountsByBalance({ view, params, shuffle }: Reply): string {
  const { limit, offset } = params.page(422);
  const rows = sorted(view.latestStates.all(), { keyOf: ({ balance }) => balance, sort: -1, shuffle });
  const page = rows.slice(offset, offset + limit);
  return jsonOf(page.map(({ address, balance }) => ({ account: address, balance: String(balance) })));
}

/** `/addressInformation`: unknown accounts are uninit and empty. */
export function addressInformation({ view, params }: Reply): string {
  const state = view.latestStates.find(oneAddress(params));
  return jsonOf({
    balance: String(state?.balance ?? 0),
    code: state?.codeHash === undefined ? null : bocOf(state.codeHash),
    data: state?.dataHash === undefined ? null : bocOf(state.dataHash),
    last_transaction_lt: String(state?.lastLt ?? 0),
    last_transaction_hash: state?.lastHash ?? NO_HASH,
    frozen_hash: null,
    status: state?.status ?? 'uninit',
  });
}

/** `/walletInformation`: an error for accounts that are not wallets. */
export function walletInformation({ view, params }: Reply): string {
  const state = view.latestStates.find(oneAddress(params));
  const kind = state?.status === 'active' ? walletKind(state.account) : undefined;
  demand(state?.status !== 'active' || kind !== undefined, 'not a wallet', 409);
  return jsonOf({
    balance: String(state?.balance ?? 0),
    wallet_type: kind?.type,
    seqno: kind && state && view.latestStates.walletSeqno(state),
    wallet_id: kind?.id,
    last_transaction_lt: String(state?.lastLt ?? 0),
    last_transaction_hash: state?.lastHash ?? NO_HASH,
    status: state?.status ?? 'uninit',
  });
}

function oneAddress(params: Params): string {
  const [address] = params.firstAddress('address');
  demand(address !== undefined, 'address is required', 401);
  return address;
}
