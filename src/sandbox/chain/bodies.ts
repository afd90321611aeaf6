import { type Json, type JsonRecord, sortedJson } from '../page/json.ts';
import type { Account } from './accounts.ts';
import { build, byteCell, type Cell, type CellBuilder, snake, toBoc } from './cell.ts';
import { must, type Rng } from './mix.ts';

/** The values of an operation; each uses those that it has fields for. */
export interface Operation {
  readonly queryId: bigint;
  readonly amount?: bigint;
  /** The new owner. */
  readonly to?: Account;
  /** The previous owner, who also gets the rest of the value. */
  readonly sender?: Account;
  readonly forward?: number;
  /** A text that is passed on. */
  readonly comment?: string | undefined;
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

/** The body of a message. Its cells are built on first use: most bodies of an epoch are never read. */
export class Body {
  /** Name that the server gives to the opcode. */
  readonly decodedOpcode: string | null;
  /** Of a text, and of operations. */
  readonly values: Partial<Operation>;
  readonly #make: () => Cell;
  readonly #meaning: () => Json;
  #root: Cell | undefined;
  #boc: string | undefined;
  #decoded: string | undefined;

  constructor(make: () => Cell, decodedOpcode: string | null, meaning: () => Json, values: Partial<Operation> = {}) {
    this.#make = make;
    this.#meaning = meaning;
    this.decodedOpcode = decodedOpcode;
    this.values = values;
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

  /** The body as the server decodes it, JSON text. */
  get decoded(): string {
    this.#decoded ??= sortedJson(this.#meaning());
    return this.#decoded;
  }

  get cell(): Cell {
    this.#root ??= this.#make();
    return this.#root;
  }
}

/** A body that differs in each epoch. */
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

/** A field of operations, and its decoded form unless the decoder skips it. */
interface Field {
  readonly write: (to: CellBuilder, values: Operation) => void;
  readonly json?: (values: Operation) => Json;
}

const queryId: Field = { write: (to, values) => to.big(values.queryId, 64), json: (values) => String(values.queryId) };

const coins = (amountOf: (values: Operation) => bigint): Field => ({
  write: (to, values) => to.variable(amountOf(values)),
  json: (values) => {
    const amount = amountOf(values);
    const bytes = amount === 0n ? 0 : Math.ceil(amount.toString(16).length / 2);
    return { '@type': 'var_uint', len: String(bytes), value: String(amount) };
  },
});

const [amount, forward] = [coins((values) => values.amount ?? 0n), coins((values) => BigInt(values.forward ?? 0))];

const NOTHING: Json = { '@type': 'nothing_from_maybe' };

const account = (accountOf: (values: Operation) => Account | undefined): Field => ({
  write: (to, values) => to.address(must(accountOf(values)?.address, 'fixed address')),
  json: (values) => {
    const [workchain = '0', id = ''] = (accountOf(values)?.address ?? '').split(':');
    return { '@type': 'addr_std', address: id, anycast: NOTHING, workchain_id: workchain };
  },
});

const [receiver, sender] = [account(({ to }) => to), account((values) => values.sender)];

const noPayload: Field = { write: (to) => to.uint(0, 1), json: () => NOTHING };

/** A payload in a separate cell, if there is a comment. */
const payload: Field = {
  write: (to, { comment }) => to.maybe(comment, (text) => to.ref(commentCell(text))),
  json: ({ comment }) =>
    comment === undefined
      ? { '@type': 'first_from_either', value: { '@type': 'empty_cell' } }
      : { '@type': 'second_from_either', value: commentJson(comment) },
};

const NOTICE = { query_id: queryId, amount, sender, forward_payload: { write: noPayload.write } };
const PLAIN = { query_id: queryId };

/** The fields of operations in the order of their cells. */
const FIELDS = {
  jetton_transfer: {
    query_id: queryId,
    amount,
    destination: receiver,
    response_destination: sender,
    custom_payload: noPayload,
    forward_ton_amount: forward,
    forward_payload: payload,
  },
  jetton_internal_transfer: {
    query_id: queryId,
    amount,
    from: sender,
    response_address: sender,
    forward_ton_amount: forward,
    forward_payload: payload,
  },
  jetton_notify: NOTICE,
  jetton_burn: { query_id: queryId, amount, response_destination: sender, custom_payload: noPayload },
  jetton_burn_notification: NOTICE,
  nft_transfer: {
    query_id: queryId,
    new_owner: receiver,
    response_destination: sender,
    custom_payload: noPayload,
    forward_amount: forward,
    forward_payload: payload,
  },
  nft_ownership_assigned: NOTICE,
  excess: PLAIN,
  elector_new_stake: PLAIN,
  elector_new_stake_ok: PLAIN,
} satisfies Partial<Readonly<Record<OpcodeName, Readonly<Record<string, Field>>>>>;

/** A body with an opcode and fields. */
export function operation(name: keyof typeof FIELDS, values: Operation): Body {
  const fields = Object.entries<Field>(FIELDS[name]);
  return new Body(
    () => {
      const to = build().uint(OPCODES[name], 32);
      for (const [, { write }] of fields) write(to, values);
      return to.end();
    },
    name,
    () => ({ '@type': name, ...Object.fromEntries(fields.map(([key, { json }]) => [key, json?.(values)])) }),
    values,
  );
}

/** Bag of cells of a comment that is stored by reference, base64. */
export function payloadOf({ comment }: Partial<Operation>): string | undefined {
  return comment === undefined ? undefined : toBoc(commentCell(comment));
}

function commentCell(comment: string): Cell {
  return snake(OPCODES.text_comment, Buffer.from(comment));
}

/** A comment as the server decodes it. */
export function commentJson(comment: string): JsonRecord {
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

/** A message signed for a wallet. It differs in each epoch, because a wallet accepts a message only once. */
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
    const seqno = first + epoch + MAX_EPOCHS_BEFORE;
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
const MAX_EPOCHS_BEFORE = 1;

function signedRequest(seqno: number): Json {
  return {
    '@type': 'w5_external_signed_request',
    request: { '@type': 'w5_signed_request', msg_seqno: String(seqno), wallet_id: String(W5_WALLET) },
  };
}

/** A signed message as the server decodes it, JSON text; undefined for other bags of cells. */
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
