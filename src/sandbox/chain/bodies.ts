import { type Json, sortedJson } from '../page/json.ts';
import type { Account } from './accounts.ts';
import { build, byteCell, type Cell, type CellBuilder, snake, toBoc } from './cell.ts';
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

  /** The body in an epoch. */
  in(_epoch: number): Body {
    return this;
  }

  /** `0x` and 8 lower-case digits; null if the body has fewer than 32 bits. */
  get opcode(): string | null {
    const { bytes, length } = this.cell;
    return length < 32 ? null : `0x${bytes.toString('hex', 0, 4)}`;
  }

  /** Cell hash, base64. */
  get hash(): string {
    return this.cell.hash;
  }

  /** Bag of cells, base64. */
  get boc(): string {
    this.#boc ??= toBoc(this.cell);
    return this.#boc;
  }

  /** JSON text of what the server decodes it to. */
  get decoded(): string {
    this.#decoded ??= sortedJson(this.#meaning());
    return this.#decoded;
  }

  get cell(): Cell {
    this.#root ??= this.#make();
    return this.#root;
  }
}

/** A body that is another in each epoch. */
class RepeatedBody extends Body {
  readonly #of: (epoch: number) => Body;
  #last: { readonly epoch: number; readonly body: Body } | undefined;

  constructor(of: (epoch: number) => Body) {
    const first = of(0);
    super(
      () => first.cell,
      first.decodedOpcode,
      () => null,
    );
    this.#of = of;
  }

  override in(epoch: number): Body {
    if (this.#last?.epoch !== epoch) this.#last = { epoch, body: this.#of(epoch) };
    return this.#last.body;
  }
}

/** A field of an operation, and its decoded form unless the decoder skips it. */
interface Field {
  readonly write: (to: CellBuilder) => void;
  readonly json?: () => Json;
}

/** A body with an opcode and fields. */
function operation(name: OpcodeName, fields: Readonly<Record<string, Field>>, facts: Facts = {}): Body {
  const all = Object.entries(fields);
  return new Body(
    () => {
      const to = build().uint(OPCODES[name], 32);
      for (const [, { write }] of all) write(to);
      return to.end();
    },
    name,
    () => ({ '@type': name, ...Object.fromEntries(all.map(([key, { json }]) => [key, json?.()])) }),
    facts,
  );
}

const uint64 = (value: bigint): Field => ({ write: (to) => to.big(value, 64), json: () => String(value) });

const coins = (amount: bigint): Field => ({
  write: (to) => to.variable(amount),
  json: () => {
    const bytes = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
    return { '@type': 'var_uint', len: String(bytes), value: String(amount) };
  },
});

const NOTHING: Json = { '@type': 'nothing_from_maybe' };

const address = ({ address }: Account): Field => ({
  write: (to) => to.address(must(address, 'fixed address')),
  json: () => {
    const [workchain = '0', id = ''] = (address ?? '').split(':');
    return { '@type': 'addr_std', address: id, anycast: NOTHING, workchain_id: workchain };
  },
});

const noPayload: Field = { write: (to) => to.uint(0, 1), json: () => NOTHING };

/** A payload in a cell of its own, if there is a comment. */
const forwardPayload = (comment: string | undefined): Field => ({
  write: (to) => to.maybe(comment, (text) => to.ref(commentCell(text))),
  json: () =>
    comment === undefined
      ? { '@type': 'first_from_either', value: { '@type': 'empty_cell' } }
      : { '@type': 'second_from_either', value: commentJson(comment) },
});

function commentCell(comment: string): Cell {
  return snake(OPCODES.text_comment, Buffer.from(comment));
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
  return opaqueBody(() => build().uint(0b00110, 5).ref(byteCell(code), byteCell(data)).end());
}

/** No body at all: an empty cell. */
export function emptyBody(): Body {
  return new Body(
    () => build().end(),
    null,
    () => ({ '@type': 'empty_cell' }),
  );
}

/** Fewer than 32 bits, so no opcode. */
export function shortBody(rng: Rng): Body {
  const [value, width] = [rng.next(), rng.between(1, 31)];
  return opaqueBody(() =>
    build()
      .uint(value >>> (32 - width), width)
      .end(),
  );
}

/** An operation that the decoder does not know. */
export function unknownBody(rng: Rng, opcode = rng.next()): Body {
  const rest = rng.bytes(rng.between(8, 90));
  return opaqueBody(() => build().uint(opcode, 32).raw(rest).end());
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

/** A message that a wallet signs, another in each epoch: a wallet accepts each only once. */
export function signedBody(rng: Rng): Body {
  if (rng.chance(0.5)) {
    const [own, inner] = [rng.bytes(100), byteCell(rng.bytes(70))];
    const signed = (epoch: number): Cell => {
      const bytes = Buffer.from(own);
      bytes.writeInt32BE(epoch, SEQNO_AT);
      return build().raw(bytes).ref(inner).end();
    };
    return new RepeatedBody((epoch) => opaqueBody(() => signed(epoch)));
  }
  const [first, signature] = [rng.below(100000), rng.bytes(64)];
  return new RepeatedBody((epoch) => {
    const seqno = first + epoch + MOST_EPOCHS_BEFORE;
    return new Body(
      () =>
        build().uint(OPCODES.w5_external_signed_request, 32).uint(W5_WALLET, 32).uint(seqno, 32).raw(signature).end(),
      'w5_external_signed_request',
      () => signedRequest(seqno),
    );
  });
}

/** Place of the seqno in a message to an older wallet. */
const SEQNO_AT = 72;
const W5_WALLET = 2147483409;
/** Messages can be of this many epochs before the first. */
const MOST_EPOCHS_BEFORE = 1;

function signedRequest(seqno: number): Json {
  return {
    '@type': 'w5_external_signed_request',
    request: { '@type': 'w5_signed_request', msg_seqno: String(seqno), wallet_id: String(W5_WALLET) },
  };
}

/** What the server decodes a signed message to; undefined for other bags of cells. */
export function decodeSigned(boc: string): string | undefined {
  const [, seqno] = SIGNED.exec(Buffer.from(boc, 'base64').toString('hex')) ?? [];
  return seqno === undefined ? undefined : sortedJson(signedRequest(Number.parseInt(seqno, 16)));
}

/** A bag of one cell without references: opcode, wallet, seqno and signature. */
const SIGNED = /^b5ee9c7241(?:..){6}0098(?:7369676e)7fffff11(.{8})(?:..){64}.{8}$/;

/** The first 256 bits of a bounced message. */
export function bounceBody(bounced: Body): Body {
  return new Body(
    () => {
      const to = build().uint(OPCODES.bounce, 32);
      return bounced.opcode === null ? to.end() : to.uint(Number(bounced.opcode), 32).end();
    },
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
  return operation(name, { ...fields, forward_payload: { write: (to) => to.uint(0, 1) } });
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
