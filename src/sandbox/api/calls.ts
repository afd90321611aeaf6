import { createHash } from 'node:crypto';
import type { Account } from '../chain/accounts.ts';
import { parseAddress } from '../chain/address.ts';
import { decodeSigned, OPCODES } from '../chain/bodies.ts';
import { build, byteCell, toBoc, ZERO_HASH } from '../chain/cell.ts';
import { FIRST_SEQNO } from '../chain/clock.ts';
import { must } from '../chain/mix.ts';
import { type AccountsByAddress, bookRow, metadataText } from '../page/addresses.ts';
import { type Json, type JsonRecord, jsonOf, textOf, Verbatim } from '../page/json.ts';
import { ApiError, demand } from './api-error.ts';
import type { LatestState } from './latest-states.ts';
import type { Endpoint } from './list.ts';
import { type ParsedRequest, readOpcode } from './parsed-request.ts';
import { indexOf, nextIndexOf, ownerOf, supplyOf } from './token-lists.ts';
import type { View } from './view.ts';

const MAX_VALUES = 1000;

/** Names that `/decode` does not know, although the server decodes their bodies. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'w5_external_signed_request',
  'elector_new_stake',
  'elector_new_stake_ok',
]);

/** Names of operations by opcode. */
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OPCODES).flatMap(([name, opcode]) => (UNKNOWN.has(name) ? [] : [[opcode, name]])),
);

function requiredTexts(request: ParsedRequest): readonly string[] {
  const texts = request.list('address');
  demand(texts.length > 0, 'at least 1 address required');
  return texts;
}

function accountOf(view: View, address: string): Account | undefined {
  return view.chain.quietContracts.find(address)?.account ?? view.chain.accountOf(address)?.account;
}

function oneAddress(request: ParsedRequest): string {
  const address = request.text('address');
  demand(address !== undefined, 'address is required', 401);
  return address;
}

/** Unknown accounts are uninit and empty. */
function stateFields(state: LatestState | undefined) {
  return {
    balance: String(state?.balance ?? 0),
    last_transaction_lt: String(state?.lastLt ?? 0),
    last_transaction_hash: state?.lastHash() ?? ZERO_HASH,
    status: state?.status ?? 'uninit',
  };
}

/** GET and POST `/decode` */
function decode({ view, body, list }: ParsedRequest): string {
  const given = (name: string): readonly string[] => {
    const posted = body[name];
    const values = Array.isArray(posted) ? posted.map(String) : list(name);
    demand(values.length <= MAX_VALUES, `${name} list exceeds maximum length of ${MAX_VALUES}`);
    return values;
  };
  const opcodes = given('opcodes').map((text, index) => {
    const opcode = readOpcode(text);
    if (opcode === undefined) throw new ApiError(422, `invalid opcode format at index ${index}: ${text}`);
    return NAMES.get(Number(opcode)) ?? 'unknown';
  });
  const bodies = given('bodies').map((text): Json => {
    const boc = /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex').toString('base64') : text;
    const found = view.knownBodies().get(boc) ?? decodeSigned(boc);
    return found === undefined || found === 'null' ? { error: 'unknown message body' } : new Verbatim(found);
  });
  return textOf('DecodeResponse', { opcodes, bodies });
}

/** A text of a posted body that must be there. */
function posted({ body }: ParsedRequest, name: string, status = 401): string {
  const value = body[name];
  demand(typeof value === 'string' && value !== '', `${name} is required`, status);
  return value;
}

function slice(account: Account | undefined): JsonRecord {
  return { type: 'slice', value: toBoc(build().address(account?.address).end()) };
}

function num(value: bigint): JsonRecord {
  return { type: 'num', value: value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}` };
}

function result(exitCode: number, stack: readonly JsonRecord[]): string {
  return textOf('V2RunGetMethodResult', { gas_used: 549 + stack.length * 100, exit_code: exitCode, stack });
}

/** Endpoints that do not list. */
export const calls = {
  'GET /masterchainInfo': ({ view }) => {
    const block = (seqno: number) => view.blocks.record(must(view.chain.blocksOf(seqno)[0], 'masterchain block'));
    return textOf('MasterchainInfo', { last: block(view.head()), first: block(FIRST_SEQNO) });
  },
  /** Keys are the addresses as given. */
  'GET /addressBook': (request) => {
    const { view } = request;
    const rows = [...new Set(requiredTexts(request))].sort().map((text): [string, JsonRecord] => {
      const address = parseAddress(text);
      if (address === undefined) return [text, { user_friendly: null, domain: null, interfaces: null }];
      return [text, bookRow(address, accountOf(view, address))];
    });
    return jsonOf(Object.fromEntries(rows));
  },
  /** Token contracts only; invalid addresses are left out. */
  'GET /metadata': (request) => {
    const { view } = request;
    const accounts: AccountsByAddress = new Map();
    for (const text of requiredTexts(request)) {
      const address = parseAddress(text);
      const account = address === undefined ? undefined : accountOf(view, address);
      if (address !== undefined && account !== undefined) accounts.set(address, account);
    }
    return metadataText(accounts);
  },
  'GET /addressInformation': (request) => {
    const state = request.view.latestStates.find(oneAddress(request));
    return textOf('V2AddressInformation', {
      ...stateFields(state),
      code: state?.code && toBoc(state.code),
      data: state?.data && toBoc(state.data),
    });
  },
  /** An error for accounts that are not wallets. */
  'GET /walletInformation': (request) => {
    const { latestStates } = request.view;
    const state = latestStates.find(oneAddress(request));
    const wallet = state && latestStates.walletFields(state);
    demand(state?.status !== 'active' || wallet !== undefined, 'not a wallet', 409);
    return textOf('V2WalletInformation', { ...stateFields(state), ...wallet });
  },
  /** Accepts any message and sends nothing. */
  'POST /message': (request) => {
    const hash = createHash('sha256')
      .update(Buffer.from(posted(request, 'boc'), 'base64'))
      .digest();
    const norm = createHash('sha256').update(hash).digest();
    return textOf('V2SendMessageResult', {
      message_hash: hash.toString('base64'),
      message_hash_norm: norm.toString('base64'),
    });
  },
  /** From the size of the body. */
  'POST /estimateFee': (request) => {
    posted(request, 'address', 422);
    const { body: boc } = request.body;
    const bytes = typeof boc === 'string' ? Buffer.from(boc, 'base64').length : 0;
    const fees = { in_fwd_fee: 400_000 + bytes * 1000, storage_fee: 3549, gas_fee: 1_234_000, fwd_fee: 0 };
    return textOf('V2EstimateFeeResult', { source_fees: fees, destination_fees: [] });
  },
  /** The get-methods of wallets and tokens, from their latest states. */
  'POST /runGetMethod': (request) => {
    const { view } = request;
    const [address, method] = [posted(request, 'address'), posted(request, 'method')];
    const state = view.latestStates.find(parseAddress(address) ?? '');
    if (state === undefined || state.status !== 'active') return result(-13, []);
    const { account } = state;
    const { role, owner, parent } = account;
    const code = { type: 'cell', value: toBoc(account.code) };
    const content = { type: 'cell', value: toBoc(byteCell(Buffer.from('\u0001https://example.com/token.json'))) };
    switch (`${role === 'holder' ? 'wallet' : role} ${method}`) {
      case 'wallet seqno':
        return result(0, [num(BigInt(view.latestStates.walletSeqno(state)))]);
      case 'wallet get_public_key':
        return result(0, [num(BigInt(`0x${Buffer.from(state.stateHash, 'base64').toString('hex')}`))]);
      case 'jetton-wallet get_wallet_data':
        return result(0, [num(view.latestStates.jettonsOf(state)), slice(owner), slice(parent), code]);
      case 'jetton-master get_jetton_data':
        return result(0, [num(supplyOf(view, account)), num(-1n), slice(undefined), content, code]);
      case 'nft-collection get_collection_data':
        return result(0, [num(BigInt(nextIndexOf(view, account))), content, slice(undefined)]);
      case 'nft-item get_nft_data':
        return result(0, [num(-1n), num(BigInt(indexOf(state))), slice(parent), slice(ownerOf(view, state)), content]);
      default:
        return result(11, []);
    }
  },
  'GET /decode': decode,
  'POST /decode': decode,
} satisfies Readonly<Record<string, Endpoint>>;
