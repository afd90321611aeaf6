import { type Account, addressOf } from './accounts.ts';
import { CellBuilder, type CellRef, dictionary, idOf, ZERO_HASH } from './cell.ts';
import { type Description, descriptionOf, hasAny } from './description.ts';
import { cached } from './mix.ts';
import {
  backOf,
  type Extra,
  feesIn,
  ltIn,
  type MessageKey,
  previousOf,
  type SkipReason,
  type Status,
  type StatusChange,
  type Template,
  type TransactionKey,
  valueIn,
} from './model.ts';
import type { TagCodec } from './tag.ts';

type Builder = CellBuilder<CellRef>;

/** The transaction or message with a hash. */
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
  created(key: MessageKey): readonly [lt: number, utime: number] | undefined;
}

/** The hashes of one epoch of a template, by id, each made on first use. */
interface Made {
  readonly transactions: string[];
  readonly messages: CellRef[];
}

const STATUS: Readonly<Record<Status, number>> = { uninit: 0, frozen: 1, active: 2, nonexist: 3 };
/** Words as a number and how many bits it takes. */
type Words<W extends string> = Readonly<Record<W, readonly [value: number, width: number]>>;
const SKIPPED: Words<SkipReason> = {
  no_state: [0b00, 2],
  bad_state: [0b01, 2],
  no_gas: [0b10, 2],
  suspended: [0b110, 3],
};
const CHANGED: Words<StatusChange> = { unchanged: [0b0, 1], frozen: [0b10, 2], deleted: [0b11, 2] };

/**
 * Hashes of transactions and messages as the chain makes them: of their cells. A transaction contains the hash of the previous one of its
 * account, so those of an account are made one after the other, from its first to the requested one.
 */
export class CellHashes {
  readonly #chain: Places;
  /** By epoch, from the one before the first: transactions of the first receive its messages. */
  readonly #made = new Map<Template, Made[]>();
  /** By each hash that was made. */
  readonly #found = new Map<string, Found>();
  /** Epochs of which all hashes were made. */
  readonly #complete = new Map<Template, number>();

  constructor(chain: Places) {
    this.#chain = chain;
  }

  /** The hash of an external message without the parts that relays can change. */
  normalized({ template, message, epoch }: MessageKey): string {
    const { destination, body, id } = message;
    const cell = this.#address(new CellBuilder<CellRef>().uint(0b1000, 4), destination, epoch).variable(0);
    const digest = cell.bit(false).bit(true).ref(body.in(epoch).cell).digest();
    this.#found.set(digest.hash, { template, kind: 'normalized', id, epoch });
    return digest.hash;
  }

  /** The transaction or message with a hash. For an unknown one, all hashes up to the head are made. */
  find(hash: string, head: number): Found | undefined {
    for (const template of this.#chain.templates()) {
      if (!this.#found.has(hash)) this.#makeAll(template, this.#chain.lastEpoch(template, head));
    }
    return this.#found.get(hash);
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
    const epochs = cached(this.#made, template, () => []);
    epochs[epoch + 1] ??= { transactions: [], messages: [] };
    return epochs[epoch + 1] as Made;
  }

  message(key: MessageKey): CellRef {
    const { template, message, epoch } = key;
    const { messages } = this.#epoch(template, epoch);
    const known = messages[message.id];
    if (known !== undefined) return known;
    const made = this.#messageCell(key);
    messages[message.id] = made;
    this.#found.set(made.hash, { template, kind: 'message', id: message.id, epoch });
    return made;
  }

  /** The hash of a transaction of an epoch that is not before the first. */
  transaction(key: TransactionKey): string {
    const known = ({ template, transaction, epoch }: TransactionKey): string | undefined =>
      this.#epoch(template, epoch).transactions[transaction.id];
    const missing: TransactionKey[] = [];
    for (let next: TransactionKey | undefined = key; next !== undefined && next.epoch >= 0; next = previousOf(next)) {
      if (known(next) !== undefined) break;
      missing.push(next);
    }
    for (const each of missing.reverse()) {
      const { template, transaction, epoch } = each;
      const { hash } = this.#transactionCell(each);
      this.#epoch(template, epoch).transactions[transaction.id] = hash;
      this.#found.set(hash, { template, kind: 'transaction', id: transaction.id, epoch });
    }
    return known(key) as string;
  }

  #transactionCell(key: TransactionKey): CellRef {
    const { transaction, epoch } = key;
    const { account, outgoing } = transaction;
    const past = previousOf(key);
    const cell: Builder = new CellBuilder<CellRef>().uint(0b0111, 4);
    cell.raw(idOf(addressOf(account, epoch, this.#chain.codec))).uint(ltIn(key), 64);
    cell.hash(past === undefined ? ZERO_HASH : this.#chain.transactionHash(past));
    cell.uint(past === undefined ? 0 : ltIn(past), 64);
    cell.uint(this.#chain.timeOf(key), 32).uint(outgoing.length, 15);
    cell.uint(STATUS[transaction.origStatus], 2).uint(STATUS[transaction.endStatus], 2);
    const update = new CellBuilder<CellRef>().uint(0x72, 8);
    for (const side of ['before', 'after'] as const) update.hash(this.#chain.stateHash(key, side));
    currencies(cell.ref(this.#messagesOf(key)), feesIn(key));
    return cell.ref(update.digest(), describe(descriptionOf(key, this.#chain.codec)).digest()).digest();
  }

  #address(cell: Builder, account: Account | undefined, epoch: number): Builder {
    return cell.address(account && addressOf(account, epoch, this.#chain.codec));
  }

  #messagesOf({ template, transaction: { incoming, outgoing }, epoch }: TransactionKey): CellRef {
    const pair: Builder = new CellBuilder<CellRef>();
    pair.maybe(incoming, (message) => pair.ref(this.message({ template, message, epoch: epoch - backOf(message) })));
    const sent = outgoing.map((message, index) => {
      const cell = this.message({ template, message, epoch });
      return [index, (leaf: Builder) => void leaf.ref(cell)] as const;
    });
    return pair.maybe(sent.length === 0 ? undefined : sent, (entries) => pair.ref(dictionary(entries, 15))).digest();
  }

  #messageCell(key: MessageKey): CellRef {
    const { message, epoch } = key;
    const { source, destination, init } = message;
    const cell: Builder = new CellBuilder<CellRef>();
    const created = (): void => {
      const [lt = 0, utime = 0] = this.#chain.created(key) ?? [];
      cell.uint(lt, 64).uint(utime, 32);
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
    // Some senders put a body in a separate cell although it would fit.
    if (init !== undefined || message.id % 3 === 0 || !cell.fits(body, 1)) return cell.bit(true).ref(body).digest();
    return cell.bit(false).inline(body).digest();
  }
}

/** An amount of TON, and of extra currencies. */
function currencies(cell: Builder, amount: number | string, extra: Extra = {}): Builder {
  cell.variable(amount).bit(hasAny(extra));
  if (!hasAny(extra)) return cell;
  const entries = Object.entries(extra).map(
    ([id, value]) => [Number(id), (leaf: Builder) => void leaf.variable(value, 5)] as const,
  );
  return cell.ref(dictionary(entries, 32));
}

type Write<T> = (cell: Builder, value: T) => unknown;
/** How the fields of a record are written, in the order of the cell. */
type Layout<R> = { readonly [Name in keyof R]?: Write<R[Name]> };

function lay<R extends object>(cell: Builder, record: R, layout: Layout<R>): Builder {
  for (const name in layout) layout[name]?.(cell, record[name]);
  return cell;
}

const bit: Write<boolean> = (cell, value) => cell.bit(value);
const hash: Write<string> = (cell, value) => cell.hash(value);
const integer =
  (width: number): Write<number> =>
  (cell, value) =>
    cell.uint(value, width);
/** @param lengthBits see `CellBuilder.variable` */
const amount =
  (lengthBits: number): Write<string> =>
  (cell, value) =>
    cell.variable(value, lengthBits);
const [coins, size] = [amount(4), amount(3)];
const maybe =
  <T>(write: Write<T>): Write<T | undefined> =>
  (cell, value) =>
    cell.maybe(value, (known) => write(cell, known));
const change: Write<StatusChange> = (cell, value) => cell.uint(...CHANGED[value]);
const messageSize: Write<Ran<'action'>['tot_msg_size']> = (cell, { cells, bits }) =>
  cell.variable(cells, 3).variable(bits, 3);

type Ran<Part extends keyof Description> = NonNullable<Description[Part]>;
type Computed = Extract<Description['compute_ph'], { skipped: false }>;

const STORAGE: Layout<Ran<'storage_ph'>> = {
  storage_fees_collected: coins,
  storage_fees_due: maybe(coins),
  status_change: change,
};
const COMPUTE: Layout<Computed> = { success: bit, msg_state_used: bit, account_activated: bit, gas_fees: coins };
const COMPUTE_DETAILS: Layout<Computed> = {
  gas_used: size,
  gas_limit: size,
  gas_credit: maybe(amount(2)),
  mode: integer(8),
  exit_code: integer(32),
  exit_arg: maybe(integer(32)),
  vm_steps: integer(32),
  vm_init_state_hash: hash,
  vm_final_state_hash: hash,
};
const ACTION: Layout<Ran<'action'>> = {
  success: bit,
  valid: bit,
  no_funds: bit,
  status_change: change,
  total_fwd_fees: maybe(coins),
  total_action_fees: maybe(coins),
  result_code: integer(32),
  result_arg: maybe(integer(32)),
  tot_actions: integer(16),
  spec_actions: integer(16),
  skipped_actions: integer(16),
  msgs_created: integer(16),
  action_list_hash: hash,
  tot_msg_size: messageSize,
};

/** The cell of a description. */
function describe(description: Description): Builder {
  const { is_tock, credit_first, storage_ph, credit_ph, compute_ph, action, bounce } = description;
  const cell: Builder = new CellBuilder<CellRef>();
  if (is_tock !== undefined) {
    cell.uint(0b001, 3).bit(is_tock);
    if (storage_ph !== undefined) lay(cell, storage_ph, STORAGE);
  } else {
    cell
      .uint(0, 4)
      .bit(credit_first === true)
      .maybe(storage_ph, (storage) => lay(cell, storage, STORAGE));
    cell.maybe(credit_ph, (credit) => {
      maybe(coins)(cell, credit.due_fees_collected);
      currencies(cell, credit.credit, credit.credit_extra_currencies);
    });
  }
  cell.bit(!compute_ph.skipped);
  if (compute_ph.skipped) cell.uint(...SKIPPED[compute_ph.reason]);
  else {
    lay(cell, compute_ph, COMPUTE).ref(lay(new CellBuilder<CellRef>(), compute_ph, COMPUTE_DETAILS).digest());
  }
  cell.maybe(action, (phase) => cell.ref(lay(new CellBuilder<CellRef>(), phase, ACTION).digest()));
  cell.bit(description.aborted);
  if (is_tock === undefined) cell.maybe(bounce, (phase) => writeBounce(cell, phase));
  return cell.bit(description.destroyed);
}

function writeBounce(cell: Builder, phase: Ran<'bounce'>): void {
  if (phase.type === 'negfunds') cell.uint(0b00, 2);
  else if (phase.type === 'nofunds') lay(cell.uint(0b01, 2), phase, { msg_size: messageSize, req_fwd_fees: coins });
  else lay(cell.uint(1, 1), phase, { msg_size: messageSize, msg_fees: coins, fwd_fees: coins });
}
