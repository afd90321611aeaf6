import { type Json, sortedJson } from '../page/json.ts';
import type { Account } from './accounts.ts';
import { addressBits, byteBits, type Cell, cell, coinBits, snake, toBoc, uintBits } from './cell.ts';
import { must, type Rng } from './mix.ts';

/** An order to a jetton wallet or an NFT item, as transfers and burns are listed. */
export interface TokenFacts {
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

/** Opcodes by the names that the server gives them. */
export const OPCODES = {
  text_comment: 0,
  jetton_transfer: 0x0f8a7ea5,
  jetton_internal_transfer: 0x178d4519,
  jetton_notify: 0x7362d09c,
  jetton_burn: 0x595f07bc,
  jetton_burn_notification: 0x7bdd97de,
  nft_transfer: 0x5fcc3d14,
  nft_ownership_assigned: 0x05138d91,
  excess: 0xd53276db,
  bounce: 0xffffffff,
  w5_external_signed_request: 0x7369676e,
  elector_new_stake: 0x4e73744b,
  elector_new_stake_ok: 0xf374484c,
} as const;

type OpcodeName = keyof typeof OPCODES;

/** What other parts of the sandbox need to know about a body. */
interface Facts {
  readonly comment?: string;
  /** Amount that a jetton wallet receives. */
  readonly credited?: bigint;
  readonly order?: TokenFacts;
}

/** The body of a message. Its cells are built on first use: most bodies of an epoch are never read. */
export class Body {
  /** Name that the server gives to the opcode. */
  readonly decodedOpcode: string | null;
  readonly facts: Facts;
  readonly #make: () => Cell;
  readonly #meaning: () => Json;
  #root: Cell | undefined;
  #boc: string | undefined;
  #decoded: string | undefined;

  constructor(make: () => Cell, decodedOpcode: string | null, meaning: () => Json, facts: Facts = {}) {
    this.#make = make;
    this.#meaning = meaning;
    this.decodedOpcode = decodedOpcode;
    this.facts = facts;
  }

  /** `0x` and 8 lower-case digits; null if the body has fewer than 32 bits. */
  get opcode(): string | null {
    const { bits } = this.#cell;
    return bits.length < 32 ? null : `0x${Number.parseInt(bits.slice(0, 32), 2).toString(16).padStart(8, '0')}`;
  }

  /** Cell hash, base64. */
  get hash(): string {
    return this.#cell.hash.toString('base64');
  }

  /** Bag of cells, base64. */
  get boc(): string {
    this.#boc ??= toBoc(this.#cell);
    return this.#boc;
  }

  /** JSON text of what the server decodes it to. */
  get decoded(): string {
    this.#decoded ??= sortedJson(this.#meaning());
    return this.#decoded;
  }

  get #cell(): Cell {
    this.#root ??= this.#make();
    return this.#root;
  }
}

/** A field of an operation: its bits, the cells that it refers to, and its decoded form unless the decoder skips it. */
interface Field {
  readonly bits: () => string;
  readonly refs?: () => readonly Cell[];
  readonly json?: () => Json;
}

/** A body with an opcode and fields. */
function operation(name: OpcodeName, fields: Readonly<Record<string, Field>>, facts: Facts = {}): Body {
  const all = Object.entries(fields);
  return new Body(
    () => {
      const bits = all.map(([, field]) => field.bits()).join('');
      return cell(
        opcodeBits(name) + bits,
        all.flatMap(([, { refs }]) => refs?.() ?? []),
      );
    },
    name,
    () => ({ '@type': name, ...Object.fromEntries(all.map(([key, { json }]) => [key, json?.()])) }),
    facts,
  );
}

const uint64 = (value: bigint): Field => ({ bits: () => uintBits(value, 64), json: () => String(value) });

const coins = (amount: bigint): Field => ({
  bits: () => coinBits(amount),
  json: () => {
    const bytes = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
    return { '@type': 'var_uint', len: String(bytes), value: String(amount) };
  },
});

const NOTHING: Json = { '@type': 'nothing_from_maybe' };

const address = ({ address }: Account): Field => ({
  bits: () => addressBits(must(address, 'fixed address')),
  json: () => {
    const [workchain = '0', id = ''] = (address ?? '').split(':');
    return { '@type': 'addr_std', address: id, anycast: NOTHING, workchain_id: workchain };
  },
});

const noPayload: Field = { bits: () => '0', json: () => NOTHING };

/** A payload in a cell of its own, if there is a comment. */
const forwardPayload = (comment: string | undefined): Field => ({
  bits: () => (comment === undefined ? '0' : '1'),
  refs: () => (comment === undefined ? [] : [commentCell(comment)]),
  json: () =>
    comment === undefined
      ? { '@type': 'first_from_either', value: { '@type': 'empty_cell' } }
      : { '@type': 'second_from_either', value: commentJson(comment) },
});

function opcodeBits(name: OpcodeName): string {
  return uintBits(OPCODES[name], 32);
}

function commentCell(comment: string): Cell {
  return snake(opcodeBits('text_comment'), Buffer.from(comment));
}

function commentJson(comment: string): Json {
  return { '@type': 'text_comment', comment, type: 'text_comment' };
}

/** A body that the decoder does not know. */
function opaqueBody(make: () => Cell): Body {
  return new Body(make, null, () => null);
}

/** A StateInit, as messages that deploy carry it. */
export function stateInit(rng: Rng): Body {
  const [code, data] = [rng.bytes(60), rng.bytes(40)];
  return opaqueBody(() => cell('00110', [cell(byteBits(code)), cell(byteBits(data))]));
}

/** No body at all: an empty cell. */
export function emptyBody(): Body {
  return new Body(
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
  return new Body(
    () => commentCell(comment),
    'text_comment',
    () => commentJson(comment),
    { comment },
  );
}

/** An external message that a wallet signs. */
export function signedBody(rng: Rng): Body {
  if (rng.chance(0.5)) {
    const [own, inner] = [rng.bytes(100), rng.bytes(70)];
    return opaqueBody(() => cell(byteBits(own), [cell(byteBits(inner))]));
  }
  const [seqno, signature] = [rng.below(100000), rng.bytes(64)];
  return new Body(
    () =>
      cell(
        opcodeBits('w5_external_signed_request') + uintBits(2147483409, 32) + uintBits(seqno, 32) + byteBits(signature),
      ),
    'w5_external_signed_request',
    () => ({
      '@type': 'w5_external_signed_request',
      request: { '@type': 'w5_signed_request', msg_seqno: String(seqno), wallet_id: '2147483409' },
    }),
  );
}

/** The first 256 bits of a bounced message. */
export function bounceBody(bounced: Body): Body {
  return new Body(
    () => cell(opcodeBits('bounce') + (bounced.opcode === null ? '' : uintBits(Number(bounced.opcode), 32))),
    'bounce',
    () => ({ '@type': 'bounce', payload: { '@type': 'empty_cell' } }),
  );
}

/** An operation with a query id and nothing else. */
export function plainBody(name: OpcodeName, queryId: bigint): Body {
  return operation(name, { query_id: uint64(queryId) });
}

/** A jetton operation with an amount, two addresses and a forward payload. */
export interface TokenOrder {
  readonly queryId: bigint;
  readonly amount: bigint;
  readonly first: Account;
  readonly second: Account;
  readonly forward: number;
  readonly comment: string | undefined;
}

function tokenBody(
  name: OpcodeName,
  { queryId, amount, forward, comment }: TokenOrder,
  fields: Readonly<Record<string, Field>>,
  facts: Facts,
): Body {
  const start = { query_id: uint64(queryId), amount: coins(amount) };
  const end = { forward_ton_amount: coins(BigInt(forward)), forward_payload: forwardPayload(comment) };
  return operation(name, { ...start, ...fields, ...end }, facts);
}

export function jettonTransferBody(order: TokenOrder): Body {
  const { first, second, comment } = order;
  const fields = {
    destination: address(first),
    response_destination: address(second),
    custom_payload: noPayload,
  };
  const payload = (): string | undefined => (comment === undefined ? undefined : toBoc(commentCell(comment)));
  const facts: TokenFacts = { ...order, to: first, response: second, payload };
  return tokenBody('jetton_transfer', order, fields, { order: facts });
}

export function jettonInternalBody(order: TokenOrder): Body {
  const fields = { from: address(order.first), response_address: address(order.second) };
  return tokenBody('jetton_internal_transfer', order, fields, { credited: order.amount });
}

export function jettonBurnBody(queryId: bigint, amount: bigint, response: Account): Body {
  const fields = {
    query_id: uint64(queryId),
    amount: coins(amount),
    response_destination: address(response),
    custom_payload: noPayload,
  };
  const order: TokenFacts = { queryId, amount, response, to: undefined, forward: 0, ...NO_TEXT };
  return operation('jetton_burn', fields, { order });
}

/** A notification to an owner or a master: query id, amount, sender. */
export function noticeBody(name: OpcodeName, queryId: bigint, amount: bigint, sender: Account): Body {
  const fields = { query_id: uint64(queryId), amount: coins(amount), sender: address(sender) };
  return operation(name, { ...fields, forward_payload: { bits: () => '0' } });
}

export function nftTransferBody(queryId: bigint, newOwner: Account, response: Account): Body {
  const fields = {
    query_id: uint64(queryId),
    new_owner: address(newOwner),
    response_destination: address(response),
    custom_payload: noPayload,
    forward_amount: coins(1n),
    forward_payload: forwardPayload(undefined),
  };
  const order: TokenFacts = { queryId, to: newOwner, response, amount: 0n, forward: 1, ...NO_TEXT };
  return operation('nft_transfer', fields, { order });
}

const NO_TEXT = { comment: undefined, payload: () => undefined } as const;
