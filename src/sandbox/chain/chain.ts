import { type Account, addressOf } from './accounts.ts';
import type { TokenFacts } from './bodies.ts';
import { EPOCH_BLOCKS, epochOf, FIRST_SEQNO, GIANT_PERIOD, GIANT_SEQNO, ltOf, slotOf, utimeOf } from './clock.ts';
import { type Epoch, makeEpoch } from './epoch.ts';
import { makeGiant, makeTies } from './giant.ts';
import { must } from './mix.ts';
import type { Message, Template, Transaction } from './model.ts';
import { Registry } from './registry.ts';
import { createdLt } from './settle.ts';
import type { BlockPlan } from './shards.ts';
import { HASH_KIND, TagCodec } from './tag.ts';
import { TraceIndex } from './trace-index.ts';

/** A transaction in a certain epoch. */
export interface TransactionRow {
  readonly template: Template;
  readonly transaction: Transaction;
  readonly epoch: number;
  readonly lt: number;
  readonly account: string;
  /** What a lie shows instead of the truth. */
  readonly shown?: ShownTransaction;
}

/** What a lie changes about a transaction besides its lt. */
export interface ShownTransaction {
  /** Masterchain block it is listed in. */
  readonly seqno?: number;
  readonly block?: { readonly workchain: number; readonly shard: string; readonly seqno: number };
  /** Changes the JSON of the record. */
  readonly edit?: (text: string) => string;
}

/** A message in a certain epoch: that of its sender, or of its receiver when it comes from outside. */
export interface MessageRow {
  readonly template: Template;
  readonly message: Message;
  readonly epoch: number;
  /** -1 for messages from outside, which have none. */
  readonly createdLt: number;
}

/** A block in a certain epoch. */
export interface BlockRow {
  readonly plan: BlockPlan;
  readonly epoch: number;
  /** What a lie shows instead of the truth. */
  readonly shown?: ShownBlock;
}

/** What a lie changes about a header. */
export interface ShownBlock {
  readonly shard?: string;
  readonly seqno?: number;
  readonly startLt?: number;
  readonly endLt?: number;
  readonly count?: number;
  readonly masterchainSeqno?: number;
  readonly prev?: readonly { readonly workchain: number; readonly shard: string; readonly seqno: number }[];
  /** Tells a made-up block from the one it was made of. */
  readonly copy?: number;
}

/** What a network may have beyond its seed. */
export interface ChainOptions {
  /** A masterchain block with more than 3,000 jetton transfers at one lt. */
  readonly tieSeqno?: number | undefined;
  /** How much happens, beside what happens at 1. */
  readonly activity?: number | undefined;
}

/** Rows kept per slot, so that paging through one block does not sort it again. */
const KEPT_SLOTS = 256;
/** Slots from the asked block of ties within which a shard block is found. */
const TIE_REACH = 10;

interface Grouped {
  readonly template: Template;
  readonly made: readonly (readonly Transaction[])[];
  readonly included: readonly (readonly Transaction[])[];
  readonly created: readonly (readonly Message[])[];
  /** Transactions of token contracts that were told to transfer or to burn. */
  readonly orders: readonly (readonly Transaction[])[];
}

/** Blocks, transactions and messages of every seqno, found by arithmetic from the seed. */
export class Chain {
  readonly seed: number;
  readonly codec: TagCodec;
  readonly epoch: Epoch;
  readonly traces: TraceIndex;
  readonly #ordinary: Grouped;
  readonly #blocks: readonly (readonly BlockPlan[])[];
  readonly #made: readonly (readonly BlockPlan[])[];
  readonly #rows = new Map<string, readonly TransactionRow[]>();
  readonly #addresses = new Map<string, Account>();
  readonly #rare = new Map<number, Grouped>();
  readonly #tieSeqno: number | undefined;
  #registry: Registry | undefined;

  constructor(seed: number, { tieSeqno, activity = 1 }: ChainOptions = {}) {
    this.seed = seed;
    this.#tieSeqno = tieSeqno;
    this.codec = new TagCodec(seed);
    this.epoch = makeEpoch(seed, activity);
    this.traces = new TraceIndex(this);
    this.#ordinary = group(this.epoch, EPOCH_BLOCKS, (transaction) => transaction.slot);
    const blocks = Array.from({ length: EPOCH_BLOCKS }, (): BlockPlan[] => []);
    for (const plan of this.epoch.shards.blocks) must(blocks[plan.included], 'slot').push(plan);
    this.#blocks = blocks;
    const made = Array.from({ length: EPOCH_BLOCKS }, (): BlockPlan[] => []);
    for (const plan of this.epoch.shards.blocks) must(made[plan.slot], 'slot').push(plan);
    this.#made = made;
    for (const account of this.epoch.accounts)
      if (account.address !== undefined) this.#addresses.set(account.address, account);
  }

  /** Templates by family; undefined when this network has none. */
  template(family: number): Template | undefined {
    return family === 0 ? this.epoch : this.#group(family)?.template;
  }

  /** Blocks beyond the ordinary are made when the first of them is asked for. */
  #group(family: number): Grouped | undefined {
    const known = this.#rare.get(family);
    if (known !== undefined) return known;
    const template =
      family === 1
        ? makeGiant(this.seed, this.epoch)
        : family === 2 && this.#tieSeqno !== undefined
          ? makeTies(this.seed, this.epoch, this.#tieSeqno)
          : undefined;
    if (template === undefined) return undefined;
    const made = group(template, 2, () => 0);
    this.#rare.set(family, made);
    for (const account of template.accounts)
      if (account.address !== undefined) this.#addresses.set(account.address, account);
    return made;
  }

  /** The groups that act in a slot, with their epoch and position. */
  #acting(slot: number): { readonly group: Grouped; readonly epoch: number; readonly at: number }[] {
    const epoch = epochOf(slot);
    const acting = [{ group: this.#ordinary, epoch, at: slot - epoch * EPOCH_BLOCKS }];
    for (const { group, epoch: repetition, at } of this.#rareIn(slot)) acting.push({ group, epoch: repetition, at });
    return acting;
  }

  /** Whether a family's repetition of this number ever comes. */
  happens(family: number, epoch: number): boolean {
    return epoch >= 0 && (family !== 2 || epoch === 0);
  }

  /** Whether a family's first repetition is not after the head. */
  hasHappened(family: number, head: number): boolean {
    if (family === 1) return head >= GIANT_SEQNO;
    if (family === 2) return this.#tieSeqno !== undefined && head >= this.#tieSeqno + TIE_REACH;
    return true;
  }

  /** Contracts that exist and never act. */
  get registry(): Registry {
    this.#registry ??= new Registry(this.seed, this.epoch.cast);
    return this.#registry;
  }

  /** Whether blocks made in a slot may hold more than those of the same slot in other epochs. */
  isRare(slot: number): boolean {
    return this.#rareIn(slot).length > 0;
  }

  /** The extraordinary that acts in a slot, or is included one slot after it acted. */
  #rareIn(slot: number): { readonly group: Grouped; readonly epoch: number; readonly at: number }[] {
    const found: { group: Grouped; epoch: number; at: number }[] = [];
    const giant = giantEpoch(slot);
    const crowd = giant === undefined ? undefined : this.#group(1);
    if (giant !== undefined && crowd !== undefined) found.push({ group: crowd, epoch: giant, at: 0 });
    if (this.#tieSeqno === undefined || Math.abs(slot - slotOf(this.#tieSeqno)) > TIE_REACH) return found;
    const ties = this.#group(2);
    const at = slot - (ties?.template.phase ?? 0);
    if (ties !== undefined && (at === 0 || at === 1)) found.push({ group: ties, epoch: 0, at });
    return found;
  }

  /** Transactions of a masterchain block, by lt and account. */
  includedIn(seqno: number): readonly TransactionRow[] {
    return this.#sorted(`i${seqno}`, slotOf(seqno), (group, at) => group.included[at] ?? []);
  }

  /** Transactions made in a slot, by lt and account; their masterchain block is that of the slot or the next. */
  madeIn(slot: number): readonly TransactionRow[] {
    return this.#sorted(`m${slot}`, slot, (group, at) => group.made[at] ?? []);
  }

  /** How many transactions are made in a slot, without listing them. */
  countMadeIn(slot: number): number {
    return this.#acting(slot).reduce((sum, { group, at }) => sum + (group.made[at]?.length ?? 0), 0);
  }

  #sorted(
    key: string,
    slot: number,
    of: (group: Grouped, at: number) => readonly Transaction[],
  ): readonly TransactionRow[] {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const rows = this.#acting(slot)
      .flatMap(({ group, epoch, at }) =>
        of(group, at).map((transaction) => this.row(group.template, transaction, epoch)),
      )
      .sort(byLtAndAccount);
    if (this.#rows.size >= KEPT_SLOTS) this.#rows.delete(must(this.#rows.keys().next().value, 'oldest key'));
    this.#rows.set(key, rows);
    return rows;
  }

  row(template: Template, transaction: Transaction, epoch: number): TransactionRow {
    const lt = ltOf(template.phase + template.period * epoch) + transaction.lt;
    return { template, transaction, epoch, lt, account: addressOf(transaction.account, epoch, this.codec) };
  }

  /** Messages whose sender runs in a slot, and inbound externals whose receiver does. */
  createdIn(slot: number): readonly MessageRow[] {
    return this.#acting(slot).flatMap(({ group, epoch, at }) =>
      (group.created[at] ?? []).map((message) => this.messageRow(group.template, message, epoch)),
    );
  }

  /** Transactions of token contracts in a slot that were told to transfer or to burn. */
  ordersIn(slot: number, kind: TokenFacts['kind']): readonly TransactionRow[] {
    return this.#acting(slot).flatMap(({ group, epoch, at }) =>
      (group.orders[at] ?? [])
        .filter((transaction) => transaction.incoming?.body.order?.kind === kind)
        .map((transaction) => this.row(group.template, transaction, epoch)),
    );
  }

  messageRow(template: Template, message: Message, epoch: number): MessageRow {
    const start = ltOf(template.phase + template.period * epoch);
    return {
      template,
      message,
      epoch,
      createdLt: message.from === undefined ? -1 : start + createdLt(message, message.from),
    };
  }

  /** Blocks that belong to a masterchain block, itself first. */
  blocksOf(seqno: number): readonly BlockRow[] {
    const epoch = epochOf(slotOf(seqno));
    return (this.#blocks[slotOf(seqno) - epoch * EPOCH_BLOCKS] ?? []).map((plan) => ({ plan, epoch }));
  }

  /** The masterchain block and the newest block of every shard. */
  stateOf(seqno: number): readonly BlockRow[] {
    const epoch = epochOf(slotOf(seqno));
    const at = slotOf(seqno) - epoch * EPOCH_BLOCKS;
    const own = must(this.#blocks[at]?.[0], 'masterchain block');
    return [own, ...this.epoch.shards.stateAt(at)].map((plan) => ({ plan, epoch }));
  }

  /** The block before a block, in the same shard; undefined after a split or merge. */
  blockBefore({ plan, epoch }: BlockRow): BlockRow | undefined {
    const [prev] = plan.prev;
    if (prev === undefined || prev.shard !== plan.name.shard) return undefined;
    const at = this.epoch.shards.blocks.find(
      ({ name }) => name.shard === prev.shard && (prev.seqno - name.seqno) % name.step === 0,
    );
    return at === undefined
      ? undefined
      : { plan: at, epoch: epoch + Math.floor((prev.seqno - at.name.seqno) / at.name.step) };
  }

  /** Blocks of all workchains made in a slot. */
  blocksMadeIn(slot: number): readonly BlockRow[] {
    const epoch = epochOf(slot);
    return (this.#made[slot - epoch * EPOCH_BLOCKS] ?? []).map((plan) => ({ plan, epoch }));
  }

  /** Whether a slot begins another second than the one before it in the direction of `step`. */
  secondEnds(slot: number, step: 1 | -1): boolean {
    return utimeOf(slot) !== utimeOf(slot - step);
  }

  /** The slots that blocks of any shard with this seqno can be made in. */
  slotsOfSeqno(seqno: number): { readonly first: number; readonly last: number } {
    const epochs = this.epoch.shards.blocks
      .filter(({ name }) => seqno >= name.seqno && (seqno - name.seqno) % name.step === 0)
      .map(({ name, slot }) => ((seqno - name.seqno) / name.step) * EPOCH_BLOCKS + slot);
    return { first: Math.min(...epochs), last: Math.max(...epochs) };
  }

  /** Transactions of one block. */
  inBlock({ plan, epoch }: BlockRow): readonly TransactionRow[] {
    const seqno = epoch * EPOCH_BLOCKS + plan.included + FIRST_SEQNO;
    return this.includedIn(seqno).filter((row) => row.transaction.block === plan);
  }

  transactionByHash(hash: Uint8Array): TransactionRow | undefined {
    const tag = this.codec.decode(hash);
    if (tag?.kind !== HASH_KIND.transaction) return undefined;
    const template = this.template(tag.family);
    const transaction = template?.transactions[tag.id];
    if (template === undefined || transaction === undefined || !sameHash(this.codec, hash, tag)) return undefined;
    return this.row(template, transaction, tag.epoch);
  }

  /** A message by its own or its normalized hash. */
  messageByHash(hash: Uint8Array): MessageRow | undefined {
    const tag = this.codec.decode(hash);
    if (tag?.kind !== HASH_KIND.message && tag?.kind !== HASH_KIND.normalized) return undefined;
    const template = this.template(tag.family);
    const message = template?.messages[tag.id];
    if (template === undefined || message === undefined || !sameHash(this.codec, hash, tag)) return undefined;
    if (tag.kind === HASH_KIND.normalized && !message.normalized) return undefined;
    return this.messageRow(template, message, tag.epoch);
  }

  /** The block that has this root or file hash. */
  blockByHash(hash: Uint8Array, kind: number): BlockRow | undefined {
    const tag = this.codec.decode(hash);
    const plan = tag?.kind === kind && tag.family === 0 ? this.epoch.shards.blocks[tag.id] : undefined;
    return plan === undefined || tag === undefined ? undefined : { plan, epoch: tag.epoch };
  }

  /** The account of a raw address, with its epoch when it lives in one only. */
  accountOf(address: string): { readonly account: Account; readonly epoch: number | undefined } | undefined {
    for (const family of [1, 2]) this.#group(family);
    const fixed = this.#addresses.get(address);
    if (fixed !== undefined) return { account: fixed, epoch: undefined };
    const id = address.split(':')[1] ?? '';
    const tag = this.codec.decode(Buffer.from(id.slice(2, 26), 'hex'));
    const account = tag?.kind === HASH_KIND.account ? this.template(tag.family)?.accounts[tag.id] : undefined;
    if (tag === undefined || account === undefined || addressOf(account, tag.epoch, this.codec) !== address)
      return undefined;
    return { account, epoch: tag.epoch };
  }
}

/** Number of the giant block of a slot, from 0; undefined when it has none. */
export function giantEpoch(slot: number): number | undefined {
  const epoch = (slot - slotOf(GIANT_SEQNO)) / GIANT_PERIOD;
  return epoch >= 0 && Number.isInteger(epoch) ? epoch : undefined;
}

export function byLtAndAccount(a: TransactionRow, b: TransactionRow): number {
  return a.lt - b.lt || (a.account < b.account ? -1 : a.account > b.account ? 1 : 0);
}

function sameHash(
  codec: TagCodec,
  hash: Uint8Array,
  tag: { family: number; kind: number; id: number; epoch: number },
): boolean {
  return codec.hash(tag.family, tag.kind, tag.id, tag.epoch) === Buffer.from(hash).toString('base64');
}

function group(template: Template, slots: number, slotOfTransaction: (transaction: Transaction) => number): Grouped {
  const lists = <T>(): T[][] => Array.from({ length: slots }, () => []);
  const made = lists<Transaction>();
  const included = lists<Transaction>();
  const created = lists<Message>();
  const orders = lists<Transaction>();
  for (const transaction of template.transactions) {
    const at = slotOfTransaction(transaction);
    must(made[at], 'slot').push(transaction);
    must(included[at + transaction.block.included - transaction.block.slot], 'slot').push(transaction);
    if (transaction.incoming?.kind === 'external-in') must(created[at], 'slot').push(transaction.incoming);
    must(created[at], 'slot').push(...transaction.outgoing);
    if (transaction.incoming?.body.order !== undefined && !transaction.incoming.bounced)
      must(orders[at], 'slot').push(transaction);
  }
  return { template, made, included, created, orders };
}
