import { type Account, walletKind } from '../chain/accounts.ts';
import { parseAddress } from '../chain/address.ts';
import { byteBits, cell, toBoc } from '../chain/cell.ts';
import { Rng } from '../chain/mix.ts';
import type { Extra } from '../chain/model.ts';
import type { Met } from '../page/addresses.ts';
import { type OrderedRecord, orderedJson } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import type { View } from './view.ts';

/** Rows of an answer to a list of addresses; what is beyond is cut. */
const MOST_ROWS = 1000;
const NO_HASH = `${'A'.repeat(43)}=`;

/** `/accountStates`: in no order, unknown addresses left out. */
export function accountStates(view: View, params: Params, shuffle: number): Buffer {
  const bocs = params.bool('include_boc') !== false;
  const reply = new Reply(view, params);
  const rows = asked(view, params, shuffle).map((state) => orderedJson(fullState(view, reply, state, bocs)));
  return reply.list('accounts', rows, true);
}

/** `/walletStates` */
export function walletStates(view: View, params: Params, shuffle: number): Buffer {
  const reply = new Reply(view, params);
  const rows = asked(view, params, shuffle).map((state) => {
    const { address, extra, status, balance, codeHash } = state;
    reply.meet(state.account, state.row?.epoch);
    const kind = status === 'active' ? walletKind(state.account) : undefined;
    return orderedJson({
      address,
      is_wallet: kind !== undefined,
      wallet_type: kind?.type,
      seqno: kind === undefined ? undefined : view.latestStates.walletSeqno(state),
      wallet_id: kind?.id,
      balance: String(balance),
      extra_currencies: extra.size === 0 ? undefined : extraRecord(extra),
      is_signature_allowed: kind?.type === 'wallet v5 r1' ? true : undefined,
      status,
      code_hash: codeHash,
      last_transaction_hash: state.lastHash,
      last_transaction_lt: String(state.lastLt),
    });
  });
  return reply.list('wallets', rows, true);
}

function asked(view: View, params: Params, shuffle: number): readonly LatestState[] {
  const addresses = new Set(params.addresses('address'));
  if (addresses.size === 0) throw new ApiError(422, 'address of account is required');
  const codes = new Set(params.hashes('code_hash').map((hash) => hash.toString('base64')));
  const found = [...addresses]
    .flatMap((address) => view.latestStates.find(address) ?? [])
    .filter(({ codeHash }) => codes.size === 0 || (codeHash !== undefined && codes.has(codeHash)));
  const rng = new Rng(shuffle, 0xacc);
  return found
    .map((state) => ({ state, chance: rng.next() }))
    .sort((a, b) => a.chance - b.chance)
    .slice(0, MOST_ROWS)
    .map(({ state }) => state);
}

function fullState(view: View, reply: Reply, state: LatestState, bocs: boolean): OrderedRecord {
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
    interfaces: view.addresses.interfacesOf(account),
  };
}

function extraRecord(extra: Extra): OrderedRecord {
  return Object.fromEntries([...extra.keys()].sort().map((key) => [key, String(extra.get(key))]));
}

/** A bag of one cell that stands for what a hash names; its own hash is another. */
export function bocOf(hash: string): string {
  return toBoc(cell(byteBits(Buffer.from(hash, 'base64').subarray(0, 24))));
}

/** `/addressBook`: keyed by the text as it was given. */
export function addressBook(view: View, params: Params): string {
  const texts = params.texts('address');
  if (texts.length === 0) throw new ApiError(422, 'at least 1 address required');
  const rows = [...new Set(texts)].sort().map((text): [string, OrderedRecord] => {
    const address = parseAddress(text);
    if (address === undefined) return [text, { user_friendly: null, domain: null, interfaces: null }];
    return [text, view.addresses.rowOf(address, accountOf(view, address))];
  });
  return orderedJson(Object.fromEntries(rows));
}

/** `/metadata`: token contracts only; what cannot be read is left out. */
export function metadata(view: View, params: Params): string {
  const texts = params.texts('address');
  if (texts.length === 0) throw new ApiError(422, 'at least 1 address required');
  const met: Met = new Map();
  for (const text of texts) {
    const address = parseAddress(text);
    const account = address === undefined ? undefined : accountOf(view, address);
    if (address !== undefined && account !== undefined) met.set(address, account);
  }
  return view.addresses.metadataText(met);
}

function accountOf(view: View, address: string): Account | undefined {
  return view.chain.registry.find(address)?.account ?? view.chain.accountOf(address)?.account;
}

/** `/topAccountsByBalance`: a bare list; equal balances in no order. */
export function topAccountsByBalance(view: View, params: Params, shuffle: number): string {
  const { limit, offset } = params.page(422);
  const rng = new Rng(shuffle, 0x70b);
  const rows = view.latestStates
    .all()
    .map(({ address, balance }) => ({ address, balance, chance: rng.next() }))
    .sort((a, b) => b.balance - a.balance || a.chance - b.chance)
    .slice(offset, offset + limit);
  return orderedJson(rows.map(({ address, balance }) => ({ account: address, balance: String(balance) })));
}

/** `/addressInformation`: an unknown account is uninit and empty. */
export function addressInformation(view: View, params: Params): string {
  const state = view.latestStates.find(oneAddress(params));
  return orderedJson({
    balance: String(state?.balance ?? 0),
    code: state?.codeHash === undefined ? null : bocOf(state.codeHash),
    data: state?.dataHash === undefined ? null : bocOf(state.dataHash),
    last_transaction_lt: String(state?.lastLt ?? 0),
    last_transaction_hash: state?.lastHash ?? NO_HASH,
    frozen_hash: null,
    status: state?.status ?? 'uninit',
  });
}

/** `/walletInformation`: refused for what is no wallet. */
export function walletInformation(view: View, params: Params): string {
  const state = view.latestStates.find(oneAddress(params));
  const kind = state?.status === 'active' ? walletKind(state.account) : undefined;
  if (state !== undefined && state.status === 'active' && kind === undefined) {
    throw new ApiError(409, 'not a wallet');
  }
  return orderedJson({
    balance: String(state?.balance ?? 0),
    wallet_type: kind?.type,
    seqno: kind === undefined || state === undefined ? undefined : view.latestStates.walletSeqno(state),
    wallet_id: kind?.id,
    last_transaction_lt: String(state?.lastLt ?? 0),
    last_transaction_hash: state?.lastHash ?? NO_HASH,
    status: state?.status ?? 'uninit',
  });
}

function oneAddress(params: Params): string {
  const [address] = params.firstAddress('address');
  if (address === undefined) throw new ApiError(401, 'address is required');
  return address;
}
