import { type Account, addressOf } from './accounts.ts';
import { CellBuilder, type CellRef, dictionary } from './cell.ts';
import { remembered } from './mix.ts';
import {
  backOf,
  type Extra,
  extremesIn,
  feesIn,
  gasIn,
  ltIn,
  type Message,
  type MessageKey,
  type Status,
  type Template,
  type Transaction,
  type TransactionKey,
  valueIn,
} from './model.ts';
import { actionFee, actionOf } from './settle.ts';
import { HASH_KIND, type TagCodec } from './tag.ts';

type Builder = CellBuilder<CellRef>;

/** What a hash belongs to. */
export interface Found {
  readonly template: Template;
  readonly kind: 'transaction' | 'message' | 'normalized';
  readonly id: number;
  readonly epoch: number;
}

/** The chain, as hashes need it. */
interface Places {
  readonly codec: TagCodec;
  templates(): readonly Template[];
  lastEpoch(template: Template, head: number): number;
  /** Unix seconds. */
  timeOf(key: TransactionKey): number;
  transactionHash(key: TransactionKey): string;
  stateHash(key: TransactionKey, side: 'before' | 'after'): string;
}

/** The hashes of one epoch of a template, by id, each made when it is asked for. */
interface Made {
  readonly transactions: CellRef[];
  readonly messages: CellRef[];
}

const STATUS: Readonly<Record<Status, number>> = { uninit: 0, frozen: 1, active: 2, nonexist: 3 };
/** Words as a number and how many bits it takes. */
type Words<W extends string> = Readonly<Record<W, readonly [value: number, width: number]>>;
type Skipped = Extract<Transaction['outcome'], { kind: 'skipped' }>['reason'];
const SKIPPED: Words<Skipped> = { no_state: [0b00, 2], bad_state: [0b01, 2], no_gas: [0b10, 2], suspended: [0b110, 3] };
const CHANGED: Words<'unchanged' | 'frozen' | 'deleted'> = {
  unchanged: [0b0, 1],
  frozen: [0b10, 2],
  deleted: [0b11, 2],
};

/**
 * Hashes of transactions and messages as the chain makes them: of their cells. A transaction contains the hash of the previous one of its
 * account, so those of an account are made one after the other, from its first to the one that is asked for.
 */
export class CellHashes {
  readonly #chain: Places;
  /** By epoch, from the one before the first: transactions of the first receive its messages. */
  readonly #made = new Map<Template, Made[]>();
  /** What each hash belongs to that was made. */
  readonly #found = new Map<string, Found>();
  /** Epochs of which all hashes were made. */
  readonly #complete = new Map<Template, number>();
  /** Descriptions, which differ between epochs only if they have extreme values. */
  readonly #descriptions = new Map<Template, Map<number, CellRef>>();
  readonly #ids = new Map<string, Buffer>();

  constructor(chain: Places) {
    this.#chain = chain;
  }

  /** The hash of a transaction of an epoch that is not before the first. */
  transaction(key: TransactionKey): string {
    return this.#transaction(key).hash;
  }

  message(key: MessageKey): string {
    return this.#message(key).hash;
  }

  /** The hash of an external message without what relays can change. */
  normalized({ template, message, epoch }: MessageKey): string {
    const { destination, body, id } = message;
    const cell = this.#address(new CellBuilder<CellRef>().uint(0b1000, 4), destination, epoch).variable(0);
    const digest = cell.bit(false).bit(true).ref(body.in(epoch).cell).digest();
    this.#found.set(digest.hash, { template, kind: 'normalized', id, epoch });
    return digest.hash;
  }

  /** What a hash belongs to, up to a head. One that was never made takes all hashes up to the head. */
  find(hash: string, head: number): Found | undefined {
    for (const template of this.#chain.templates()) {
      if (!this.#found.has(hash)) this.#makeAll(template, this.#chain.lastEpoch(template, head));
    }
    const found = this.#found.get(hash);
    return found !== undefined && found.epoch <= this.#chain.lastEpoch(found.template, head) ? found : undefined;
  }

  #makeAll(template: Template, last: number): void {
    for (let epoch = this.#complete.get(template) ?? 0; epoch <= last; epoch += 1) {
      for (const message of template.messages) {
        this.message({ template, message, epoch });
        if (message.normalized) this.normalized({ template, message, epoch });
      }
      for (const transaction of template.transactions) this.transaction({ template, transaction, epoch });
      this.#complete.set(template, epoch + 1);
    }
  }

  #epoch(template: Template, epoch: number): Made {
    const epochs = remembered(this.#made, template, () => []);
    epochs[epoch + 1] ??= { transactions: [], messages: [] };
    return epochs[epoch + 1] as Made;
  }

  #message(key: MessageKey): CellRef {
    const { template, message, epoch } = key;
    const { messages } = this.#epoch(template, epoch);
    const known = messages[message.id];
    if (known !== undefined) return known;
    const made = this.#messageCell(key);
    messages[message.id] = made;
    this.#found.set(made.hash, { template, kind: 'message', id: message.id, epoch });
    return made;
  }

  #transaction(key: TransactionKey): CellRef {
    const known = ({ template, transaction, epoch }: TransactionKey): CellRef | undefined =>
      this.#epoch(template, epoch).transactions[transaction.id];
    const missing: TransactionKey[] = [];
    for (let next: TransactionKey | undefined = key; next !== undefined && next.epoch >= 0; next = previousOf(next)) {
      if (known(next) !== undefined) break;
      missing.push(next);
    }
    for (const each of missing.reverse()) {
      const { template, transaction, epoch } = each;
      const made = this.#transactionCell(each);
      this.#epoch(template, epoch).transactions[transaction.id] = made;
      this.#found.set(made.hash, { template, kind: 'transaction', id: transaction.id, epoch });
    }
    return known(key) as CellRef;
  }

  #transactionCell(key: TransactionKey): CellRef {
    const { transaction, epoch } = key;
    const { account, incoming, outgoing } = transaction;
    const past = previousOf(key);
    const cell: Builder = new CellBuilder<CellRef>().uint(0b0111, 4);
    cell.raw(this.#idOf(addressOf(account, epoch, this.#chain.codec))).uint(ltIn(key), 64);
    cell.hash(past === undefined ? NOTHING : this.#hashOf(past)).uint(past === undefined ? 0 : ltIn(past), 64);
    cell.uint(this.#chain.timeOf(key), 32).uint(outgoing.length, 15);
    cell.uint(STATUS[transaction.origStatus], 2).uint(STATUS[transaction.endStatus], 2);
    const update = new CellBuilder<CellRef>().uint(0x72, 8);
    for (const side of ['before', 'after'] as const) update.hash(this.#chain.stateHash(key, side));
    cell.ref(this.#messagesOf(key, incoming, outgoing), update.digest(), this.#description(key));
    return currencies(cell, feesIn(key), NO_EXTRA).digest();
  }

  /** The hash of a transaction; of one before the first epoch, the name that it is known by. */
  #hashOf(key: TransactionKey): string {
    return key.epoch < 0 ? this.#chain.transactionHash(key) : this.#transaction(key).hash;
  }

  #idOf(address: string): Buffer {
    return remembered(this.#ids, address, () => Buffer.from(address.slice(address.indexOf(':') + 1), 'hex'));
  }

  #address(cell: Builder, account: Account | undefined, epoch: number): Builder {
    if (account === undefined) return cell.uint(0, 2);
    const address = addressOf(account, epoch, this.#chain.codec);
    return cell.uint(0b100, 3).uint(account.workchain, 8).raw(this.#idOf(address));
  }

  #messagesOf(
    { template, epoch }: TransactionKey,
    incoming: Message | undefined,
    outgoing: readonly Message[],
  ): CellRef {
    const pair: Builder = new CellBuilder<CellRef>();
    pair.maybe(incoming, (message) => pair.ref(this.#message({ template, message, epoch: epoch - backOf(message) })));
    const sent = outgoing.map((message, index) => {
      const cell = this.#message({ template, message, epoch });
      return [index, (leaf: Builder) => void leaf.ref(cell)] as const;
    });
    return pair.maybe(sent.length === 0 ? undefined : sent, (entries) => pair.ref(dictionary(entries, 15))).digest();
  }

  #messageCell({ template, message, epoch }: MessageKey): CellRef {
    const { source, destination, from, init } = message;
    const cell: Builder = new CellBuilder<CellRef>();
    const created = (): void => {
      if (from === undefined) return;
      const sender = { template, transaction: from, epoch };
      cell.uint(ltIn(sender) + message.order, 64).uint(this.#chain.timeOf(sender), 32);
    };
    if (message.kind === 'external-in') {
      this.#address(cell.uint(0b1000, 4), destination, epoch).variable(message.importFee);
    } else if (message.kind === 'external-out') {
      this.#address(cell.uint(0b11, 2), source, epoch).uint(0, 2);
      created();
    } else {
      cell.uint(0, 1).bit(true).bit(message.bounce).bit(message.bounced);
      this.#address(this.#address(cell, source, epoch), destination, epoch);
      currencies(cell, valueIn(epoch, message), message.extra);
      cell.variable(message.extraFlags ?? 0).variable(message.fwdFee);
      created();
    }
    cell.maybe(init, ({ cell: state }) => cell.bit(true).ref(state));
    const body = message.body.in(epoch).cell;
    // Some senders put a body that would fit into a cell of its own.
    if (init !== undefined || message.id % 3 === 0 || !cell.fits(body, 1)) return cell.bit(true).ref(body).digest();
    return cell.bit(false).inline(body).digest();
  }

  #description(key: TransactionKey): CellRef {
    const known = remembered(this.#descriptions, key.template, () => new Map<number, CellRef>());
    const name = key.transaction.id * 4 + extremesIn(key);
    return remembered(known, name, () => this.#describe(key));
  }

  #describe(key: TransactionKey): CellRef {
    const { transaction, epoch } = key;
    const { tickTock, storage, incoming, creditDue, outcome, bounce } = transaction;
    const cell: Builder = new CellBuilder<CellRef>();
    const writeStorage = ({ fee, due, change }: NonNullable<Transaction['storage']>): void => {
      cell.variable(fee).maybe(due, (fees) => cell.variable(fees));
      cell.uint(...CHANGED[change]);
    };
    if (tickTock !== undefined) {
      cell.uint(0b001, 3).bit(tickTock === 'tock');
      if (storage !== undefined) writeStorage(storage);
    } else {
      cell.uint(0, 4).bit(transaction.creditFirst).maybe(storage, writeStorage);
      cell.maybe(incoming?.kind === 'internal' ? incoming : undefined, (message) => {
        cell.maybe(creditDue, (fees) => cell.variable(fees));
        currencies(cell, valueIn(epoch - backOf(message), message), message.extra);
      });
    }
    this.#compute(cell, key);
    cell.maybe(actionOf(transaction), (action) => cell.ref(this.#action(action, key)));
    cell.bit(outcome.kind !== 'ok');
    if (tickTock === undefined) cell.maybe(bounce, (kind) => writeBounce(cell, transaction, kind));
    return cell.bit(transaction.destroyed).digest();
  }

  #compute(cell: Builder, key: TransactionKey): void {
    const { outcome, compute, activated, id } = key.transaction;
    if (outcome.kind === 'skipped') {
      cell.bit(false).uint(...SKIPPED[outcome.reason]);
      return;
    }
    const failed = outcome.kind === 'failed' ? outcome : undefined;
    const { gasFees, gasUsed } = gasIn(key);
    cell
      .bit(true)
      .bit(failed === undefined)
      .bit(activated)
      .bit(activated)
      .variable(gasFees);
    const details: Builder = new CellBuilder<CellRef>().variable(gasUsed, 3).variable(compute.gasLimit, 3);
    details.maybe(compute.gasCredit, (credit) => details.variable(credit, 2));
    details.uint(compute.mode, 8).uint(failed?.exitCode ?? 0, 32);
    details.maybe(failed?.exitArg, (arg) => details.uint(arg, 32)).uint(compute.vmSteps, 32);
    for (const kind of [HASH_KIND.vmInit, HASH_KIND.vmFinal]) details.hash(this.#constant(key, kind, id));
    cell.ref(details.digest());
  }

  #action(action: NonNullable<ReturnType<typeof actionOf>>, key: TransactionKey): CellRef {
    const { destroyed, id } = key.transaction;
    const cell: Builder = new CellBuilder<CellRef>();
    cell.bit(action.success).bit(action.valid).bit(action.noFunds);
    cell.uint(...CHANGED[destroyed ? 'deleted' : 'unchanged']);
    cell.maybe(action.forwarded, (fees) => cell.variable(fees));
    cell.maybe(action.forwarded && action.kept, (fees) => cell.variable(fees));
    cell.uint(action.resultCode, 32).maybe(action.resultArg, (arg) => cell.uint(arg, 32));
    for (const count of [action.total, action.special, action.special, action.created]) cell.uint(count, 16);
    cell.hash(this.#constant(key, HASH_KIND.actions, id));
    return cell.variable(action.cells, 3).variable(action.bits, 3).digest();
  }

  #constant({ template }: TransactionKey, kind: 6 | 7 | 8, id: number): string {
    return this.#chain.codec.hash(template.family, kind, id, 0);
  }
}

/** The transaction of the same account before. */
function previousOf({ template, transaction, epoch }: TransactionKey): TransactionKey | undefined {
  const { previous, previousBack } = transaction;
  return previous && { template, transaction: previous, epoch: epoch - previousBack };
}

const NO_EXTRA: Extra = new Map();
const NOTHING = `${'A'.repeat(43)}=`;

/** An amount of TON, and of extra currencies. */
function currencies(cell: Builder, amount: number | string, extra: Extra): Builder {
  cell.variable(amount).bit(extra.size > 0);
  if (extra.size === 0) return cell;
  const entries = [...extra].map(
    ([id, value]) => [Number(id), (leaf: Builder) => void leaf.variable(value, 5)] as const,
  );
  return cell.ref(
    dictionary(
      entries.sort(([a], [b]) => a - b),
      32,
    ),
  );
}

function writeBounce(cell: Builder, { outgoing }: Transaction, kind: 'ok' | 'nofunds' | 'negfunds'): void {
  if (kind === 'negfunds') cell.uint(0b00, 2);
  else if (kind === 'nofunds') cell.uint(0b01, 2).variable(0, 3).variable(0, 3).variable(400_000);
  else {
    const back = outgoing.find((message) => message.bounced);
    const fees = back === undefined ? 0 : actionFee(back);
    cell
      .uint(1, 1)
      .variable(1, 3)
      .variable(287, 3)
      .variable(fees)
      .variable(back?.fwdFee ?? 0);
  }
}
