import { groupBy } from '../../core/group-by.ts';
import { type Account, addressOf } from './accounts.ts';
import type { Body } from './bodies.ts';
import { byteCell, type Cell } from './cell.ts';
import { CellHashes, type Found } from './cell-hashes.ts';
import { type Clock, clockOf, EPOCH_BLOCKS, epochOf, FIRST_SEQNO, GIANT_PERIOD, GIANT_SEQNO, slotOf } from './clock.ts';
import { type Epoch, makeEpoch } from './epoch.ts';
import { makeGiant, makeTies } from './giant.ts';
import { cached, must } from './mix.ts';
import type { BlockRow, MessageKey, Template, Transaction, TransactionKey, TransactionRow } from './model.ts';
import { backOf, includedWithin, ltIn, slotWithin, startOf, stateAt } from './model.ts';
import { makeQuietContracts, type QuietContracts } from './quiet-contracts.ts';
import type { BlockPlan } from './shards.ts';
import { HASH_KIND, TagCodec } from './tag.ts';

/** Options of a network besides its seed. */
export interface ChainOptions {
  /** A masterchain block with more than 3,000 jetton transfers at one lt. */
  readonly tieSeqno?: number | undefined;
  /** Multiplier for the number of transactions. */
  readonly activity: number;
  /** Time between two masterchain blocks. */
  readonly blockTimeMs: number;
  /** True to hash the cells of transactions and messages; otherwise hashes are made up. */
  readonly hasCells: boolean;
}

/** Hash of the state of an account that does not exist. */
const NO_STATE_HASH = 'kK7Illr6uxbrw8ubQI665xthjXh4i8gNCYQ1k8rJjaQ=';
const KINDS = ['transaction', 'message', 'normalized'] as const;
/** Slots whose rows are cached, so that paging through one block does not sort it again. */
const CACHED_SLOTS = 256;
/** Families of templates; see `Tag`. */
const FAMILIES = [0, 1, 2] as const;

interface Grouped {
  readonly template: Template;
  readonly made: ReadonlyMap<number, readonly Transaction[]>;
  readonly included: ReadonlyMap<number, readonly Transaction[]>;
}

/** A template that acts in a slot, its epoch, and the position of the slot in the template. */
interface Acting {
  readonly group: Grouped;
  readonly epoch: number;
  readonly at: number;
}

/** Blocks, transactions and messages of every seqno, computed from the seed. */
export class Chain {
  readonly seed: number;
  readonly codec: TagCodec;
  readonly clock: Clock;
  readonly epoch: Epoch;
  readonly #included: ReadonlyMap<number, readonly BlockPlan[]>;
  readonly #made: ReadonlyMap<number, readonly BlockPlan[]>;
  readonly #rows = new Map<string, readonly TransactionRow[]>();
  readonly #addresses = new Map<string, Account>();
  readonly #groups = new Map<number, Grouped>();
  readonly #tieSeqno: number | undefined;
  readonly #data = new Map<number, Cell>();
  readonly #hashes: CellHashes | undefined;
  #quietContracts: QuietContracts | undefined;

  constructor(seed: number, { tieSeqno, activity, blockTimeMs, hasCells }: ChainOptions) {
    this.seed = seed;
    this.#hashes = hasCells ? new CellHashes(this) : undefined;
    this.#tieSeqno = tieSeqno;
    this.codec = new TagCodec(seed);
    this.clock = clockOf(blockTimeMs);
    this.epoch = makeEpoch(seed, activity);
    this.#included = groupBy(this.epoch.shards.blocks, ({ included }) => included);
    this.#made = groupBy(this.epoch.shards.blocks, ({ slot }) => slot);
  }

  /** The template of a family, if this network has it. */
  template(family: number): Template | undefined {
    return this.#group(family)?.template;
  }

  templates(): readonly Template[] {
    return FAMILIES.flatMap((family) => this.template(family) ?? []);
  }

  /** Made on first use. */
  #group(family: number): Grouped | undefined {
    const known = this.#groups.get(family);
    const template = known === undefined ? this.#makeTemplate(family) : undefined;
    if (template === undefined) return known;
    for (const account of template.accounts)
      if (account.address !== undefined) this.#addresses.set(account.address, account);
    const group = {
      template,
      made: groupBy(template.transactions, (transaction) => slotWithin(template, transaction)),
      included: groupBy(template.transactions, (transaction) => includedWithin(template, transaction)),
    };
    this.#groups.set(family, group);
    return group;
  }

  #makeTemplate(family: number): Template | undefined {
    if (family === 0) return this.epoch;
    if (family === 1) return makeGiant(this.seed, this.epoch);
    if (family === 2 && this.#tieSeqno !== undefined) return makeTies(this.seed, this.epoch, this.#tieSeqno);
    return undefined;
  }

  #acting(slot: number): readonly Acting[] {
    const group = must(this.#group(0), 'ordinary epoch');
    const epoch = epochOf(slot);
    return [{ group, epoch, at: slot - epoch * EPOCH_BLOCKS }, ...this.#rareIn(slot)];
  }

  /** The rare templates that act in a slot, or are included in it. */
  #rareIn(slot: number): readonly Acting[] {
    const found: Acting[] = [];
    const giant = (slot - slotOf(GIANT_SEQNO)) / GIANT_PERIOD;
    const crowd = giant >= 0 && Number.isInteger(giant) ? this.#group(1) : undefined;
    if (crowd !== undefined) found.push({ group: crowd, epoch: giant, at: 0 });
    const ties = this.#group(2);
    const at = slot - (ties?.template.phase ?? 0);
    if (ties !== undefined && (at === 0 || at === 1)) found.push({ group: ties, epoch: 0, at });
    return found;
  }

  /** Contracts that exist but never act. */
  get quietContracts(): QuietContracts {
    this.#quietContracts ??= makeQuietContracts(this.seed, this.epoch.cast);
    return this.#quietContracts;
  }

  /** True if a slot can have more transactions than the same slot of other epochs. */
  isRare(slot: number): boolean {
    return this.#rareIn(slot).length > 0;
  }

  /** Transactions of a masterchain block, by lt and account. */
  includedIn(seqno: number): readonly TransactionRow[] {
    return this.#sorted(`i${seqno}`, slotOf(seqno), 'included');
  }

  /** Transactions that run in a slot, by lt and account; the masterchain block of the slot or the next one includes them. */
  madeIn(slot: number): readonly TransactionRow[] {
    return this.#sorted(`m${slot}`, slot, 'made');
  }

  #sorted(key: string, slot: number, by: 'made' | 'included'): readonly TransactionRow[] {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const rows = this.#rowsOf(slot, by).sort(byLtAndAccount);
    if (this.#rows.size >= CACHED_SLOTS) this.#rows.delete(must(this.#rows.keys().next().value, 'oldest key'));
    this.#rows.set(key, rows);
    return rows;
  }

  #rowsOf(slot: number, by: 'made' | 'included'): TransactionRow[] {
    return this.#acting(slot).flatMap(({ group, epoch, at }) =>
      (group[by].get(at) ?? []).map((transaction) => this.row(group.template, transaction, epoch)),
    );
  }

  row(template: Template, transaction: Transaction, epoch: number): TransactionRow {
    const key = { template, transaction, epoch };
    const account = addressOf(transaction.account, epoch, this.codec);
    return { template, transaction, epoch, lt: ltIn(key), now: this.timeOf(key), account };
  }

  /** Unix seconds of a transaction. */
  timeOf({ template, transaction, epoch }: TransactionKey): number {
    return this.clock.utimeOf(startOf(template, epoch) + slotWithin(template, transaction));
  }

  /** The messages of a transaction: the one that it received, and those that it sent. */
  messagesOf({ template, transaction: { incoming, outgoing }, epoch }: TransactionKey): readonly MessageKey[] {
    const sent = outgoing.map((message) => ({ template, message, epoch }));
    return incoming === undefined ? sent : [{ template, message: incoming, epoch: epoch - backOf(incoming) }, ...sent];
  }

  /** Messages whose sender runs in a slot, and inbound externals whose receiver does. */
  createdIn(slot: number): readonly MessageKey[] {
    return this.#acting(slot).flatMap(({ group: { template, made }, epoch, at }) =>
      (made.get(at) ?? [])
        .flatMap(({ incoming, outgoing }) => (incoming?.kind === 'external-in' ? [incoming, ...outgoing] : outgoing))
        .map((message) => ({ template, message, epoch })),
    );
  }

  /** Transactions of a slot whose token contracts received an order to transfer or burn. */
  ordersIn(slot: number, name: Body['decodedOpcode']): readonly TransactionRow[] {
    return this.#rowsOf(slot, 'made').filter(
      ({ transaction: { incoming } }) => incoming?.body.decodedOpcode === name && !incoming.bounced,
    );
  }

  /** Logical time and Unix seconds of the creation of a message; undefined for one from outside. */
  created({ template, message: { from, order }, epoch }: MessageKey): readonly [lt: number, utime: number] | undefined {
    if (from === undefined) return undefined;
    const sender = { template, transaction: from, epoch };
    return [ltIn(sender) + order, this.timeOf(sender)];
  }

  /** Blocks that a masterchain block includes, itself first. */
  blocksOf(seqno: number): readonly BlockRow[] {
    return blocksAt(this.#included, slotOf(seqno));
  }

  /** Blocks of all workchains made in a slot. */
  blocksMadeIn(slot: number): readonly BlockRow[] {
    return blocksAt(this.#made, slot);
  }

  /** The masterchain block and the newest block of every shard. */
  stateOf(seqno: number): readonly BlockRow[] {
    const own = must(this.blocksOf(seqno)[0], 'masterchain block');
    const { epoch } = own;
    const shards = this.epoch.shards.stateAt(slotOf(seqno) - epoch * EPOCH_BLOCKS);
    return [own, ...shards.map((plan) => ({ plan, epoch }))];
  }

  /** The slots in which blocks of any shard can have a seqno. */
  slotsOfSeqno(seqno: number): { readonly first: number; readonly last: number } {
    const slots = this.epoch.shards.blocks
      .filter(({ name }) => seqno >= name.seqno && (seqno - name.seqno) % name.step === 0)
      .map(({ name, slot }) => ((seqno - name.seqno) / name.step) * EPOCH_BLOCKS + slot);
    return { first: Math.min(...slots), last: Math.max(...slots) };
  }

  /** Transactions of one block. */
  inBlock({ plan, epoch }: BlockRow): readonly TransactionRow[] {
    const seqno = epoch * EPOCH_BLOCKS + plan.included + FIRST_SEQNO;
    return this.includedIn(seqno).filter((row) => row.transaction.block === plan);
  }

  transactionHash(key: TransactionKey): string {
    // Transactions before the first epoch have no cells.
    if (key.epoch < 0) return this.#madeUp('transaction', key, key.transaction.id);
    return this.#hashes?.transaction(key) ?? this.#madeUp('transaction', key, key.transaction.id);
  }

  messageHash(key: MessageKey): string {
    return this.#hashes?.message(key).hash ?? this.#madeUp('message', key, key.message.id);
  }

  normalizedHash(key: MessageKey): string {
    return this.#hashes?.normalized(key) ?? this.#madeUp('normalized', key, key.message.id);
  }

  #madeUp(kind: Found['kind'], { template, epoch }: TransactionKey | MessageKey, id: number): string {
    return this.codec.hash(template.family, HASH_KIND[kind], id, epoch);
  }

  /** Hash of the state of an account before or after a transaction. */
  stateHash(key: TransactionKey, side: 'before' | 'after'): string {
    const { template, transaction, epoch, status } = stateAt(key, side);
    if (transaction === undefined || status === 'nonexist') return NO_STATE_HASH;
    return this.codec.hash(template.family, HASH_KIND.state, transaction.id, epoch);
  }

  /** Data of an account after a transaction, the same in every epoch. */
  dataOf(family: number, id: number): Cell {
    return cached(this.#data, family * 2 ** 24 + id, () => {
      return byteCell(Buffer.from(this.codec.hash(family, HASH_KIND.stateData, id, 0), 'base64'));
    });
  }

  /** The state of an account after a transaction. */
  contentsAfter({ template, transaction, epoch }: TransactionKey) {
    const { account, endStatus: status, balanceAfter, extraAfter: extra, id } = transaction;
    const { family } = template;
    return {
      status,
      balance: Math.max(0, balanceAfter + (template.drift.get(account) ?? 0) * epoch),
      extra,
      data: status === 'active' ? this.dataOf(family, id) : undefined,
      code: status === 'active' ? account.code : undefined,
      frozenHash: status === 'frozen' ? this.codec.hash(family, HASH_KIND.frozen, account.index, 0) : undefined,
    };
  }

  /** Hash of the first transaction of a trace. */
  traceId({ template, transaction, epoch }: TransactionKey): string {
    const root = transaction.root ?? transaction;
    return this.transactionHash({ template, transaction: root, epoch: epoch - transaction.cycle + root.cycle });
  }

  /** The transaction with a hash in base64; those after the head may be missing. */
  transactionByHash(hash: string, head: number): TransactionRow | undefined {
    const found = this.#find(hash, head);
    const transaction = found?.kind === 'transaction' ? found.template.transactions[found.id] : undefined;
    return found && transaction && this.row(found.template, transaction, found.epoch);
  }

  /** A message by its hash or its normalized hash. */
  messageByHash(hash: string, head: number): MessageKey | undefined {
    const found = this.#find(hash, head);
    const message = found === undefined || found.kind === 'transaction' ? undefined : found.template.messages[found.id];
    if (found?.kind === 'normalized' && message?.normalized !== true) return undefined;
    return found && message && { template: found.template, message, epoch: found.epoch };
  }

  /** The last repetition of a template that has begun at a head. */
  lastEpoch({ family, phase, period }: Template, head: number): number {
    const last = Math.floor((slotOf(head) - phase) / period);
    return family === 2 ? Math.min(0, last) : last;
  }

  /** The transaction or message with a hash. */
  #find(hash: string, head: number): Found | undefined {
    return this.#hashes === undefined ? this.#tagged(hash) : this.#hashes.find(hash, head);
  }

  /** The transaction or message that is encoded in a made-up hash. */
  #tagged(hash: string): Found | undefined {
    const tag = this.codec.decode(Buffer.from(hash, 'base64'));
    const kind = KINDS.find((name) => HASH_KIND[name] === tag?.kind);
    const template = tag && this.template(tag.family);
    if (tag === undefined || kind === undefined || template === undefined) return undefined;
    const isMade = this.codec.hash(tag.family, tag.kind, tag.id, tag.epoch) === hash;
    return isMade ? { template, kind, id: tag.id, epoch: tag.epoch } : undefined;
  }

  /** The block with this root or file hash. */
  blockByHash(hash: Uint8Array, kind: number): BlockRow | undefined {
    const tag = this.codec.decode(hash);
    const plan = tag?.kind === kind && tag.family === 0 ? this.epoch.shards.blocks[tag.id] : undefined;
    return tag && plan && { plan, epoch: tag.epoch };
  }

  /** The account of a raw address, with its epoch if it exists in one only. */
  accountOf(address: string): { readonly account: Account; readonly epoch: number | undefined } | undefined {
    // Their addresses are known once they are made.
    this.templates();
    const fixed = this.#addresses.get(address);
    if (fixed !== undefined) return { account: fixed, epoch: undefined };
    const id = address.split(':')[1] ?? '';
    const tag = this.codec.decode(Buffer.from(id.slice(2, 26), 'hex'));
    const account = tag?.kind === HASH_KIND.account ? this.template(tag.family)?.accounts[tag.id] : undefined;
    if (tag === undefined || account === undefined) return undefined;
    return addressOf(account, tag.epoch, this.codec) === address ? { account, epoch: tag.epoch } : undefined;
  }
}

function blocksAt(plans: ReadonlyMap<number, readonly BlockPlan[]>, slot: number): readonly BlockRow[] {
  const epoch = epochOf(slot);
  return (plans.get(slot - epoch * EPOCH_BLOCKS) ?? []).map((plan) => ({ plan, epoch }));
}

export function byLtAndAccount(a: TransactionRow, b: TransactionRow): number {
  return a.lt - b.lt || (a.account < b.account ? -1 : a.account > b.account ? 1 : 0);
}
