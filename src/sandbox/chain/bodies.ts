import { type Json, jsonOf } from '../page/json.ts';
import type { Account } from './accounts.ts';
import { addressBits, byteBits, type Cell, cell, coinBits, snake, toBoc, uintBits } from './cell.ts';
import { must, type Rng } from './mix.ts';

/** What a message carries. */
export interface Body {
  /** `0x` and 8 lower-case digits; null when the body has fewer than 32 bits. */
  readonly opcode: string | null;
  readonly decodedOpcode: string | null;
  /** Cell hash, base64. */
  readonly hash: string;
  /** Bag of cells, base64. */
  readonly boc: string;
  /** JSON text of what the server decodes it to. */
  readonly decoded: string;
  /** Text for people. */
  readonly comment?: string;
  /** Jettons that a wallet is told it got. */
  readonly credited?: bigint;
  /** What a token contract is told to do. */
  readonly order?: TokenFacts;
}

/** An order to a jetton wallet or an NFT item, as the listings of transfers and burns tell it. */
export interface TokenFacts {
  readonly kind: 'jetton_transfer' | 'jetton_burn' | 'nft_transfer';
  readonly queryId: bigint;
  readonly amount: bigint;
  /** The new owner; undefined for a burn. */
  readonly to: Account | undefined;
  readonly response: Account;
  readonly forward: number;
  readonly comment: string | undefined;
  /** Bag of cells of a payload that is stored by reference. */
  readonly payload: string | undefined;
}

export const OPCODE = {
  comment: 0,
  jettonTransfer: 0x0f8a7ea5,
  jettonInternal: 0x178d4519,
  jettonNotify: 0x7362d09c,
  jettonBurn: 0x595f07bc,
  burnNotification: 0x7bdd97de,
  nftTransfer: 0x5fcc3d14,
  ownershipAssigned: 0x05138d91,
  excesses: 0xd53276db,
  bounce: 0xffffffff,
  signed: 0x7369676e,
  newStake: 0x4e73744b,
} as const;

/** A body of any cell. */
export function bodyOf(root: Cell, decodedOpcode: string | null, decoded: Json): Body {
  const opcode =
    root.bits.length < 32 ? null : `0x${Number.parseInt(root.bits.slice(0, 32), 2).toString(16).padStart(8, '0')}`;
  return { opcode, decodedOpcode, hash: root.hash.toString('base64'), boc: toBoc(root), decoded: jsonOf(decoded) };
}

/** A StateInit, as messages that deploy carry it. */
export function stateInit(rng: Rng): Body {
  const code = cell(byteBits(rng.bytes(60)));
  return bodyOf(cell('00110', [code, cell(byteBits(rng.bytes(40)))]), null, null);
}

/** No body at all: an empty cell. */
export function emptyBody(): Body {
  return bodyOf(cell(''), null, { '@type': 'empty_cell' });
}

/** Fewer than 32 bits, so no opcode. */
export function shortBody(rng: Rng): Body {
  return bodyOf(cell(uintBits(rng.next(), 32).slice(0, rng.between(1, 31))), null, null);
}

/** An operation that the decoder does not know. */
export function unknownBody(rng: Rng, opcode = rng.next()): Body {
  return bodyOf(cell(uintBits(opcode, 32) + byteBits(rng.bytes(rng.between(8, 90)))), null, null);
}

/** A text comment. */
export function commentBody(comment: string): Body {
  const root = snake(uintBits(OPCODE.comment, 32), Buffer.from(comment, 'utf8'));
  return { ...bodyOf(root, 'text_comment', { '@type': 'text_comment', comment, type: 'text_comment' }), comment };
}

/** What a wallet signs, from outside. */
export function signedBody(rng: Rng): Body {
  if (rng.chance(0.5)) return bodyOf(cell(byteBits(rng.bytes(100)), [cell(byteBits(rng.bytes(70)))]), null, null);
  const seqno = rng.below(100000);
  const root = cell(
    uintBits(OPCODE.signed, 32) + uintBits(2147483409, 32) + uintBits(seqno, 32) + byteBits(rng.bytes(64)),
  );
  return bodyOf(root, 'w5_external_signed_request', {
    '@type': 'w5_external_signed_request',
    request: { '@type': 'w5_signed_request', msg_seqno: String(seqno), wallet_id: '2147483409' },
  });
}

/** The first 256 bits of a bounced message. */
export function bounceBody(bounced: Body): Body {
  const bits = bounced.opcode === null ? '' : uintBits(Number(bounced.opcode), 32);
  return bodyOf(cell(uintBits(OPCODE.bounce, 32) + bits), 'bounce', {
    '@type': 'bounce',
    payload: { '@type': 'empty_cell' },
  });
}

/** Operations that carry a query id and nothing else. */
export function plainBody(opcode: number, name: string, queryId: bigint): Body {
  const root = cell(uintBits(opcode, 32) + uintBits(queryId, 64));
  return bodyOf(root, name, { '@type': name, query_id: String(queryId) });
}

/** A jetton or NFT operation with an amount and two addresses. */
export interface TokenOrder {
  readonly queryId: bigint;
  readonly amount: bigint;
  readonly first: Account;
  readonly second: Account;
  readonly forward: number;
  readonly comment: string | undefined;
}

export function jettonTransferBody(order: TokenOrder): Body {
  return tokenBody(OPCODE.jettonTransfer, 'jetton_transfer', order, ['destination', 'response_destination']);
}

export function jettonInternalBody(order: TokenOrder): Body {
  return tokenBody(OPCODE.jettonInternal, 'jetton_internal_transfer', order, ['from', 'response_address']);
}

function tokenBody(opcode: number, name: string, order: TokenOrder, fields: readonly [string, string]): Body {
  const text = order.comment === undefined ? undefined : snake(uintBits(0, 32), Buffer.from(order.comment));
  const custom = opcode === OPCODE.jettonTransfer ? '0' : '';
  const bits =
    uintBits(opcode, 32) +
    uintBits(order.queryId, 64) +
    coinBits(order.amount) +
    addressBits(must(order.first.address, 'fixed address')) +
    addressBits(must(order.second.address, 'fixed address')) +
    custom +
    coinBits(order.forward) +
    (text === undefined ? '0' : '1');
  const payload: Json =
    order.comment === undefined
      ? { '@type': 'first_from_either', value: { '@type': 'empty_cell' } }
      : {
          '@type': 'second_from_either',
          value: { '@type': 'text_comment', comment: order.comment, type: 'text_comment' },
        };
  const { queryId, amount, forward, comment, first, second } = order;
  const facts: TokenFacts = {
    kind: 'jetton_transfer',
    queryId,
    amount,
    to: first,
    response: second,
    forward,
    comment,
    payload: text && toBoc(text),
  };
  const body = bodyOf(cell(bits, text === undefined ? [] : [text]), name, {
    '@type': name,
    amount: coinsJson(order.amount),
    [fields[0]]: addressJson(order.first),
    [fields[1]]: addressJson(order.second),
    forward_payload: payload,
    forward_ton_amount: coinsJson(BigInt(order.forward)),
    query_id: String(order.queryId),
    ...(custom === '' ? {} : { custom_payload: { '@type': 'nothing_from_maybe' } }),
  });
  return custom === '' ? { ...body, credited: amount } : { ...body, order: facts };
}

export function jettonBurnBody(queryId: bigint, amount: bigint, response: Account): Body {
  const bits = uintBits(OPCODE.jettonBurn, 32) + uintBits(queryId, 64) + coinBits(amount);
  const body = bodyOf(cell(`${bits}${addressBits(must(response.address, 'fixed address'))}0`), 'jetton_burn', {
    '@type': 'jetton_burn',
    amount: coinsJson(amount),
    custom_payload: { '@type': 'nothing_from_maybe' },
    query_id: String(queryId),
    response_destination: addressJson(response),
  });
  const none = { to: undefined, forward: 0, comment: undefined, payload: undefined };
  return { ...body, order: { kind: 'jetton_burn', queryId, amount, response, ...none } };
}

/** Notices to an owner or a master: query id, amount, who. */
export function noticeBody(opcode: number, name: string, queryId: bigint, amount: bigint, sender: Account): Body {
  const bits = uintBits(opcode, 32) + uintBits(queryId, 64) + coinBits(amount);
  return bodyOf(cell(`${bits}${addressBits(must(sender.address, 'fixed address'))}0`), name, {
    '@type': name,
    amount: coinsJson(amount),
    query_id: String(queryId),
    sender: addressJson(sender),
  });
}

export function nftTransferBody(queryId: bigint, newOwner: Account, response: Account): Body {
  const bits =
    uintBits(OPCODE.nftTransfer, 32) +
    uintBits(queryId, 64) +
    addressBits(must(newOwner.address, 'fixed address')) +
    addressBits(must(response.address, 'fixed address'));
  const body = bodyOf(cell(`${bits}0${coinBits(1)}0`), 'nft_transfer', {
    '@type': 'nft_transfer',
    custom_payload: { '@type': 'nothing_from_maybe' },
    forward_amount: coinsJson(1n),
    forward_payload: { '@type': 'first_from_either', value: { '@type': 'empty_cell' } },
    new_owner: addressJson(newOwner),
    query_id: String(queryId),
    response_destination: addressJson(response),
  });
  const rest = { amount: 0n, forward: 1, comment: undefined, payload: undefined };
  return { ...body, order: { kind: 'nft_transfer', queryId, to: newOwner, response, ...rest } };
}

function coinsJson(amount: bigint): Json {
  const bytes = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
  return { '@type': 'var_uint', len: String(bytes), value: String(amount) };
}

function addressJson(account: Account): Json {
  const [workchain = '0', address = ''] = (account.address ?? '').split(':');
  return { '@type': 'addr_std', address, anycast: { '@type': 'nothing_from_maybe' }, workchain_id: workchain };
}
