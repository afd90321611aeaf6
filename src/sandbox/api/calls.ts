import { createHash } from 'node:crypto';
import { parseAddress } from '../chain/address.ts';
import { OPCODES } from '../chain/bodies.ts';
import { addressBits, byteBits, cell, toBoc } from '../chain/cell.ts';
import { type Json, type JsonRecord, jsonOf, Verbatim } from '../page/json.ts';
import { bocOf } from './accounts.ts';
import { itemRows } from './nfts.ts';
import { ApiError, demand } from './params.ts';
import type { Reply } from './reply.ts';
import type { View } from './view.ts';

const MOST_VALUES = 1000;

/** Names that this endpoint does not know, although the server decodes their bodies. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'w5_external_signed_request',
  'elector_new_stake',
  'elector_new_stake_ok',
]);

/** Names of operations by opcode. */
const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OPCODES).flatMap(([name, opcode]) => (UNKNOWN.has(name) ? [] : [[opcode, name]])),
);

/** The JSON body of a POST. @throws {ApiError} 422 if it is invalid */
export function jsonBody(body: string, contentType: string | undefined): Readonly<Record<string, unknown>> {
  demand(contentType?.startsWith('application/json') === true, 'Unprocessable Entity');
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    throw new ApiError(422, error instanceof Error ? error.message : 'unreadable JSON');
  }
  demand(typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed), 'expected a JSON object');
  return Object.fromEntries(Object.entries(parsed));
}

/** GET `/decode` */
export function decode({ view, params }: Reply): string {
  return decoded(view, params.texts('opcodes'), params.texts('bodies'));
}

/** POST `/decode` */
export function decodePosted(view: View, body: Readonly<Record<string, unknown>>): string {
  const list = (name: string): readonly string[] => {
    const given = body[name];
    return Array.isArray(given) ? given.map(String) : [];
  };
  return decoded(view, list('opcodes'), list('bodies'));
}

function decoded(view: View, opcodes: readonly string[], bodies: readonly string[]): string {
  for (const [name, list] of Object.entries({ opcodes, bodies })) {
    demand(list.length <= MOST_VALUES, `${name} list exceeds maximum length of ${MOST_VALUES}`);
  }
  const names = opcodes.map((text, index) => NAMES.get(opcodeOf(text, index)) ?? 'unknown');
  const known = view.knownBodies();
  const rows = bodies.map((text): Json => {
    const boc = /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex').toString('base64') : text;
    const found = known.get(boc);
    return found === undefined || found === 'null' ? { error: 'unknown message body' } : new Verbatim(found);
  });
  return jsonOf({ opcodes: names, bodies: rows });
}

function opcodeOf(text: string, index: number): number {
  if (/^(0x)?[0-9a-f]{1,8}$/i.test(text)) return Number.parseInt(text.replace(/^0x/i, ''), 16);
  if (/^-?\d{1,10}$/.test(text)) return Number(text) >>> 0;
  throw new ApiError(422, `invalid opcode format at index ${index}: ${text}`);
}

/** POST `/message`: accepts any message and sends nothing. */
export function sendMessage(body: Readonly<Record<string, unknown>>): string {
  const { boc } = body;
  demand(typeof boc === 'string' && boc !== '', 'boc is required', 401);
  const hash = createHash('sha256').update(Buffer.from(boc, 'base64')).digest();
  const norm = createHash('sha256').update(hash).digest();
  return jsonOf({ message_hash: hash.toString('base64'), message_hash_norm: norm.toString('base64') });
}

/** POST `/estimateFee`: from the size of the body. */
export function estimateFee(body: Readonly<Record<string, unknown>>): string {
  const { address, body: boc } = body;
  demand(typeof address === 'string' && address !== '', 'address is required');
  const bytes = typeof boc === 'string' ? Buffer.from(boc, 'base64').length : 0;
  const fees = { in_fwd_fee: 400_000 + bytes * 1000, storage_fee: 3549, gas_fee: 1_234_000, fwd_fee: 0 };
  return jsonOf({ source_fees: fees, destination_fees: [] });
}

/** POST `/runGetMethod`: the get-methods of wallets and tokens, from their latest states. */
export function runGetMethod(view: View, body: Readonly<Record<string, unknown>>): string {
  const { address, method } = body;
  demand(typeof address === 'string' && address !== '', 'address is required', 401);
  demand(typeof method === 'string' && method !== '', 'method is required', 401);
  const state = view.latestStates.find(parseAddress(address) ?? '');
  if (state === undefined || state.status !== 'active') return result(-13, []);
  const { account } = state;
  const slice = (raw: string | undefined): JsonRecord => ({
    type: 'slice',
    value: toBoc(cell(raw === undefined ? '00' : addressBits(raw))),
  });
  const code = { type: 'cell', value: bocOf(account.codeHash) };
  const content = { type: 'cell', value: contentBoc() };
  const isWallet = account.role === 'wallet' || account.role === 'holder';
  if (method === 'seqno' && isWallet) return result(0, [num(BigInt(view.latestStates.walletSeqno(state)))]);
  if (method === 'get_public_key' && isWallet) {
    return result(0, [num(BigInt(`0x${Buffer.from(state.stateHash, 'base64').toString('hex')}`))]);
  }
  if (method === 'get_wallet_data' && account.role === 'jetton-wallet') {
    const quiet = view.chain.registry.wallets.find((one) => one.account === account);
    const balance = quiet === undefined ? view.latestStates.jettonsOf(state) : BigInt(quiet.jettons);
    return result(0, [num(balance), slice(account.owner?.address), slice(account.parent?.address), code]);
  }
  if (method === 'get_jetton_data' && account.role === 'jetton-master') {
    return result(0, [num(10n ** 18n), num(-1n), slice(undefined), content, code]);
  }
  const item = method === 'get_nft_data' ? itemRows(view).find((row) => row.state.account === account) : undefined;
  if (item !== undefined) {
    const parts = [slice(account.parent?.address), slice(item.owner?.address)];
    return result(0, [num(-1n), num(BigInt(item.index)), ...parts, content]);
  }
  if (method === 'get_collection_data' && account.role === 'nft-collection') {
    return result(0, [num(220n), content, slice(undefined)]);
  }
  return result(11, []);
}

function contentBoc(): string {
  return toBoc(cell(byteBits(Buffer.from('\u0001https://example.com/token.json'))));
}

function num(value: bigint): JsonRecord {
  return { type: 'num', value: value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}` };
}

function result(exitCode: number, stack: readonly JsonRecord[]): string {
  return jsonOf({ gas_used: 549 + stack.length * 100, exit_code: exitCode, stack });
}
