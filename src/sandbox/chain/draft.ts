import type { Account } from './accounts.ts';
import type { Body } from './bodies.ts';
import { EPOCH_BLOCKS } from './clock.ts';
import { must, type Rng } from './mix.ts';
import type { Extra, Message, Status, Transaction } from './model.ts';
import type { BlockPlan, ShardPlan } from './shards.ts';

const NO_EXTRA: Extra = {};

/** Properties of messages that most of them share. */
const PLAIN = {
  init: undefined,
  value: 0,
  extremeValue: undefined,
  extra: NO_EXTRA,
  bounce: false,
  bounced: false,
  extraFlags: null,
  importFee: 0,
  normalized: false,
  fwdFee: 0,
  from: undefined,
  to: undefined,
  order: 0,
} as const;

type SendOptions = Partial<Pick<Message, 'bounce' | 'bounced' | 'extra' | 'extremeValue' | 'extraFlags'>>;

/** Collects the transactions and messages of one template, trace by trace. */
export class Draft {
  readonly transactions: Transaction[] = [];
  readonly messages: Message[] = [];
  readonly rng: Rng;
  /** Current owners of NFT items, and the slot from which on an item may move again. */
  readonly holders = new Map<Account, { readonly owner: Account; readonly free: number }>();
  readonly #shards: ShardPlan;

  constructor(shards: ShardPlan, rng: Rng) {
    this.#shards = shards;
    this.rng = rng;
  }

  /** Begins a trace with a message from outside. */
  external(account: Account, slot: number, body: Body, init?: Body): Transaction {
    const message = this.#message({
      ...PLAIN,
      kind: 'external-in',
      source: undefined,
      destination: account,
      body,
      init,
      importFee: this.rng.chance(0.5) ? 0 : this.rng.between(300_000, 900_000),
      normalized: this.rng.chance(0.7),
    });
    const start = this.#nextBlock(account, slot);
    return this.#transaction(account, message, start.slot, start.block);
  }

  /** A tick or tock of a system account. */
  tick(account: Account, slot: number, kind: 'tick' | 'tock'): Transaction {
    const block = must(this.#shards.blockAt(slot, -1, account.idBits), 'masterchain block');
    const made = this.#transaction(account, undefined, slot, block, kind);
    made.compute = {
      gasUsed: '0',
      gasFees: String(1000 + (slot % 90)),
      gasLimit: '35000000',
      gasCredit: undefined,
      mode: 0,
      vmSteps: 50,
    };
    made.storage = { fee: 0, due: undefined, change: 'unchanged' };
    return made;
  }

  /** Adds a message from a transaction to another account. */
  send(from: Transaction, to: Account, value: number, body: Body, options: SendOptions = {}): Message {
    const extraFlags =
      options.extraFlags === undefined ? this.rng.pick(['0', '0', '0', null, '3']) : options.extraFlags;
    const message = this.#message({
      ...PLAIN,
      bounce: true,
      ...options,
      kind: 'internal',
      source: from.account,
      destination: to,
      body,
      value,
      extraFlags,
    });
    message.from = from;
    message.fwdFee = 266_669 + this.rng.below(600_000);
    message.order = from.outgoing.push(message);
    return message;
  }

  /** Adds a message from a transaction to nowhere: a log. */
  log(from: Transaction, body: Body): void {
    const message = this.#message({
      ...PLAIN,
      kind: 'external-out',
      source: from.account,
      destination: undefined,
      body,
    });
    message.from = from;
    message.order = from.outgoing.push(message);
  }

  /** Sends a message; returns the transaction that receives it. */
  call(from: Transaction, to: Account, value: number, body: Body, options: SendOptions = {}): Transaction {
    return this.receive(this.send(from, to, value, body, options));
  }

  /**
   * The transaction that receives a message: in the block of the sender if it is of the same shard, or after that block is known.
   * @param isPrompt uses the first block that can hold it, without a random delay
   */
  receive(message: Message, isPrompt = false): Transaction {
    const parent = must(message.from, 'sender');
    const account = must(message.destination, 'destination');
    const slot = parent.cycle * EPOCH_BLOCKS + parent.slot;
    const same = this.#shards.blockAt(slot % EPOCH_BLOCKS, account.workchain, account.idBits) === parent.block;
    if (same && (isPrompt || this.rng.chance(0.7))) return this.#transaction(account, message, slot, parent.block);
    const known = slot + (parent.block.included - parent.block.slot) + 1;
    const next = this.#nextBlock(account, known + (isPrompt || this.rng.chance(0.6) ? 0 : this.rng.below(3)));
    return this.#transaction(account, message, next.slot, next.block);
  }

  #nextBlock(account: Account, slot: number): { readonly slot: number; readonly block: BlockPlan } {
    for (let at = slot; at < slot + EPOCH_BLOCKS; at += 1) {
      const block = this.#shards.blockAt(at % EPOCH_BLOCKS, account.workchain, account.idBits);
      if (block !== undefined) return { slot: at, block };
    }
    throw new Error('sandbox: a shard without blocks');
  }

  #message(parts: Omit<Message, 'id'>): Message {
    const message = { ...parts, id: this.messages.length };
    this.messages.push(message);
    return message;
  }

  #transaction(
    account: Account,
    incoming: Message | undefined,
    slot: number,
    block: BlockPlan,
    tickTock?: 'tick' | 'tock',
  ): Transaction {
    const rng = this.rng;
    const gas = rng.between(309, 52_000);
    const external = incoming?.kind === 'external-in';
    const status: Status = account.role === 'ghost' ? 'uninit' : account.role === 'frozen' ? 'frozen' : 'active';
    const parent = incoming?.from;
    const made: Transaction = {
      id: this.transactions.length,
      account,
      incoming,
      outgoing: [],
      root: parent?.root ?? parent,
      slot: slot % EPOCH_BLOCKS,
      cycle: Math.floor(slot / EPOCH_BLOCKS),
      block,
      depth: parent?.block === block ? parent.depth + 1 : 0,
      lt: 0,
      tickTock,
      outcome: { kind: 'ok' },
      bounce: undefined,
      origStatus: status,
      endStatus: status,
      destroyed: false,
      storage: rng.chance(0.94)
        ? { fee: rng.below(5000), due: rng.chance(0.04) ? rng.between(1, 99) : undefined, change: 'unchanged' }
        : undefined,
      creditDue: rng.chance(0.02) ? rng.between(1, 99) : undefined,
      creditFirst: external || incoming?.bounce === false,
      compute: {
        gasUsed: String(gas),
        gasFees: String(gas * 400),
        gasLimit: external ? '0' : '1000000',
        gasCredit: external ? '10000' : undefined,
        mode: 0,
        vmSteps: Math.floor(gas / 20),
      },
      activated: false,
      fees: 0,
      extreme: undefined,
      balanceAfter: 0,
      extraBefore: NO_EXTRA,
      extraAfter: NO_EXTRA,
      previous: undefined,
      previousBack: 0,
      lastInBlock: true,
      stubbed: account.role === 'edge',
      hugeActions: false,
    };
    if (incoming !== undefined) incoming.to = made;
    this.transactions.push(made);
    return made;
  }
}
