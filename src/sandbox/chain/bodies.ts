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
  readonly comment: string | undefined;
  /** Jettons that a wallet is told it got. */
  readonly credited: bigint | undefined;
  /** What a token contract is told to do. */
  readonly order: TokenFacts | undefined;
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
  /** Bag of cells of a payload that is stored by reference, base64. */
  readonly payload: () => string | undefined;
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

/** What the rest of the network has to know about a body. */
type Facts = Partial<Pick<Body, 'comment' | 'credited' | 'order'>>;

/** A body that is put together when it is first looked at: most of an epoch never are. */
class CellBody implements Body {
  readonly decodedOpcode: string | null;
  readonly comment: string | undefined;
  readonly credited: bigint | undefined;
  readonly order: TokenFacts | undefined;
  readonly #make: () => Cell;
  readonly #meaning: () => Json;
  #root: Cell | undefined;
  #boc: string | undefined;
  #decoded: string | undefined;

  constructor(make: () => Cell, decodedOpcode: string | null, meaning: () => Json, facts: Facts = {}) {
    this.#make = make;
    this.#meaning = meaning;
    this.decodedOpcode = decodedOpcode;
    this.comment = facts.comment;
    this.credited = facts.credited;
    this.order = facts.order;
  }

  get opcode(): string | null {
    const { bits } = this.#cell;
    return bits.length < 32 ? null : `0x${Number.parseInt(bits.slice(0, 32), 2).toString(16).padStart(8, '0')}`;
  }

  get hash(): string {
    return this.#cell.hash.toString('base64');
  }

  get boc(): string {
    this.#boc ??= toBoc(this.#cell);
    return this.#boc;
  }

  get decoded(): string {
    this.#decoded ??= jsonOf(this.#meaning());
    return this.#decoded;
  }

  get #cell(): Cell {
    this.#root ??= this.#make();
    return this.#root;
  }
}

/** A body that the decoder does not know. */
function opaqueBody(make: () => Cell): Body {
  return new CellBody(make, null, () => null);
}

/** A StateInit, as messages that deploy carry it. */
export function stateInit(rng: Rng): Body {
  const [code, data] = [rng.bytes(60), rng.bytes(40)];
  return opaqueBody(() => cell('00110', [cell(byteBits(code)), cell(byteBits(data))]));
}

/** No body at all: an empty cell. */
export function emptyBody(): Body {
  return new CellBody(
    () => cell(''),
    null,
    () => ({ '@type': 'empty_cell' }),
  );
}

/** Fewer than 32 bits, so no opcode. */
export function shortBody(rng: Rng): Body {
  const [value, width] = [rng.next(), rng.between(1, 31)];
  return opaqueBody(() => cell(uintBits(value, 32).slice(0, width)));
}

/** An operation that the decoder does not know. */
export function unknownBody(rng: Rng, opcode = rng.next()): Body {
  const rest = rng.bytes(rng.between(8, 90));
  return opaqueBody(() => cell(uintBits(opcode, 32) + byteBits(rest)));
}

/** A text comment. */
export function commentBody(comment: string): Body {
  return new CellBody(
    () => snake(uintBits(OPCODE.comment, 32), Buffer.from(comment, 'utf8')),
    'text_comment',
    () => ({ '@type': 'text_comment', comment, type: 'text_comment' }),
    { comment },
  );
}

/** What a wallet signs, from outside. */
export function signedBody(rng: Rng): Body {
  if (rng.chance(0.5)) {
    const [own, inner] = [rng.bytes(100), rng.bytes(70)];
    return opaqueBody(() => cell(byteBits(own), [cell(byteBits(inner))]));
  }
  const [seqno, signature] = [rng.below(100000), rng.bytes(64)];
  return new CellBody(
    () => cell(uintBits(OPCODE.signed, 32) + uintBits(2147483409, 32) + uintBits(seqno, 32) + byteBits(signature)),
    'w5_external_signed_request',
    () => ({
      '@type': 'w5_external_signed_request',
      request: { '@type': 'w5_signed_request', msg_seqno: String(seqno), wallet_id: '2147483409' },
    }),
  );
}

/** The first 256 bits of a bounced message. */
export function bounceBody(bounced: Body): Body {
  return new CellBody(
    () => cell(uintBits(OPCODE.bounce, 32) + (bounced.opcode === null ? '' : uintBits(Number(bounced.opcode), 32))),
    'bounce',
    () => ({ '@type': 'bounce', payload: { '@type': 'empty_cell' } }),
  );
}

/** Operations that carry a query id and nothing else. */
export function plainBody(opcode: number, name: string, queryId: bigint): Body {
  return new CellBody(
    () => cell(uintBits(opcode, 32) + uintBits(queryId, 64)),
    name,
    () => ({ '@type': name, query_id: String(queryId) }),
  );
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
  const { queryId, amount, forward, comment, first, second } = order;
  const isTransfer = opcode === OPCODE.jettonTransfer;
  const text = (): Cell[] => (comment === undefined ? [] : [snake(uintBits(0, 32), Buffer.from(comment))]);
  const make = (): Cell => {
    const refs = text();
    const bits =
      uintBits(opcode, 32) +
      uintBits(queryId, 64) +
      coinBits(amount) +
      fixedBits(first) +
      fixedBits(second) +
      (isTransfer ? '0' : '') +
      coinBits(forward) +
      (refs.length === 0 ? '0' : '1');
    return cell(bits, refs);
  };
  const meaning = (): Json => ({
    '@type': name,
    amount: coinsJson(amount),
    [fields[0]]: addressJson(first),
    [fields[1]]: addressJson(second),
    forward_payload:
      comment === undefined
        ? { '@type': 'first_from_either', value: { '@type': 'empty_cell' } }
        : { '@type': 'second_from_either', value: { '@type': 'text_comment', comment, type: 'text_comment' } },
    forward_ton_amount: coinsJson(BigInt(forward)),
    query_id: String(queryId),
    ...(isTransfer ? { custom_payload: { '@type': 'nothing_from_maybe' } } : {}),
  });
  const facts: TokenFacts = {
    kind: 'jetton_transfer',
    ...{ queryId, amount, to: first, response: second, forward, comment },
    payload: () => text().map(toBoc)[0],
  };
  return new CellBody(make, name, meaning, isTransfer ? { order: facts } : { credited: amount });
}

export function jettonBurnBody(queryId: bigint, amount: bigint, response: Account): Body {
  return new CellBody(
    () => cell(`${uintBits(OPCODE.jettonBurn, 32)}${uintBits(queryId, 64)}${coinBits(amount)}${fixedBits(response)}0`),
    'jetton_burn',
    () => ({
      '@type': 'jetton_burn',
      amount: coinsJson(amount),
      custom_payload: { '@type': 'nothing_from_maybe' },
      query_id: String(queryId),
      response_destination: addressJson(response),
    }),
    { order: { kind: 'jetton_burn', queryId, amount, response, to: undefined, forward: 0, ...NO_TEXT } },
  );
}

/** Notices to an owner or a master: query id, amount, who. */
export function noticeBody(opcode: number, name: string, queryId: bigint, amount: bigint, sender: Account): Body {
  return new CellBody(
    () => cell(`${uintBits(opcode, 32)}${uintBits(queryId, 64)}${coinBits(amount)}${fixedBits(sender)}0`),
    name,
    () => ({
      '@type': name,
      amount: coinsJson(amount),
      query_id: String(queryId),
      sender: addressJson(sender),
    }),
  );
}

export function nftTransferBody(queryId: bigint, newOwner: Account, response: Account): Body {
  const make = (): Cell => {
    const bits = uintBits(OPCODE.nftTransfer, 32) + uintBits(queryId, 64) + fixedBits(newOwner) + fixedBits(response);
    return cell(`${bits}0${coinBits(1)}0`);
  };
  const meaning = (): Json => ({
    '@type': 'nft_transfer',
    custom_payload: { '@type': 'nothing_from_maybe' },
    forward_amount: coinsJson(1n),
    forward_payload: { '@type': 'first_from_either', value: { '@type': 'empty_cell' } },
    new_owner: addressJson(newOwner),
    query_id: String(queryId),
    response_destination: addressJson(response),
  });
  const order: TokenFacts = {
    kind: 'nft_transfer',
    queryId,
    to: newOwner,
    response,
    amount: 0n,
    forward: 1,
    ...NO_TEXT,
  };
  return new CellBody(make, 'nft_transfer', meaning, { order });
}

const NO_TEXT = { comment: undefined, payload: () => undefined } as const;

function fixedBits(account: Account): string {
  return addressBits(must(account.address, 'fixed address'));
}

function coinsJson(amount: bigint): Json {
  const bytes = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
  return { '@type': 'var_uint', len: String(bytes), value: String(amount) };
}

function addressJson(account: Account): Json {
  const [workchain = '0', address = ''] = (account.address ?? '').split(':');
  return { '@type': 'addr_std', address, anycast: { '@type': 'nothing_from_maybe' }, workchain_id: workchain };
}
