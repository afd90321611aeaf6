import { type ActionRow, Actions } from '../actions/actions.ts';
import { parseAddress } from '../chain/address.ts';
import { type BlockRow, Chain, type ChainOptions, type MessageRow, type TransactionRow } from '../chain/chain.ts';
import { EPOCH_BLOCKS, FIRST_SEQNO, seqnoOf, utimeOf } from '../chain/clock.ts';
import type { Transaction } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, type TraceRow } from '../chain/trace-index.ts';
import type { SandboxFaults } from '../faults.ts';
import { includedBy, Told } from '../lies/tampered-chain.ts';
import { AddressBookPages } from '../page/addresses.ts';
import { BlockPages } from '../page/blocks.ts';
import { Form } from '../page/form.ts';
import { TransactionForms } from '../page/transactions.ts';
import { PageWriter } from '../page/writer.ts';

/** A message with what decides its place in a listing and the transactions it shows. */
export interface ListedMessage extends MessageRow {
  readonly hash: string;
  readonly inbound: string | undefined;
  readonly outbound: string | undefined;
}

import { LatestStates } from './latest-states.ts';

/** What a network may have beyond its seed. */
export interface ViewOptions extends ChainOptions {
  /** Blocks until the actions of a block are written. */
  readonly actionLag?: number;
}

/** What the endpoints read: the chain up to a head, without the blocks that are not indexed yet. */
export class View {
  readonly chain: Chain;
  readonly blocks: BlockPages;
  readonly addresses: AddressBookPages;
  readonly actions: Actions;
  readonly latestStates: LatestStates;
  readonly #actionLag: number;
  /** The chain as it is told, lies included. */
  readonly told: Told;
  readonly head: () => number;
  readonly faults: () => SandboxFaults;
  readonly #isHole: (seqno: number) => boolean;
  readonly #forms = new Map<number, TransactionForms>();
  #spare: PageWriter | undefined;
  #bodies: ReadonlyMap<string, string> | undefined;
  #externals: { readonly head: number; readonly rows: readonly ListedMessage[] } | undefined;

  constructor(
    seed: number,
    head: () => number,
    isHole: (seqno: number) => boolean,
    faults: () => SandboxFaults,
    options: ViewOptions = {},
  ) {
    this.chain = new Chain(seed, options);
    this.actions = new Actions(this.chain);
    this.latestStates = new LatestStates(this);
    this.#actionLag = options.actionLag ?? 0;
    this.blocks = new BlockPages(this.chain);
    this.addresses = new AddressBookPages(this.chain.codec);
    this.head = head;
    this.#isHole = isHole;
    this.faults = faults;
    this.told = new Told(
      this.chain,
      this.blocks,
      () => faults().lies,
      (row) => this.masterchainSeqno(row),
    );
  }

  /** Whether a masterchain block and all that belongs to it is there. */
  isIndexed(seqno: number): boolean {
    return seqno >= FIRST_SEQNO && seqno <= this.head() && !this.#isHole(seqno);
  }

  /** Whether the transactions of a masterchain block can be asked for. */
  hasTransactions(seqno: number): boolean {
    return this.isIndexed(seqno) && !this.told.isTold(seqno, 'hole-forever');
  }

  /** What is left of a list of blocks that a lie shortens. */
  cutBlocks(rows: readonly BlockRow[]): readonly BlockRow[] {
    if (this.told.isPlain) return rows;
    if (rows.some((row) => this.told.isTold(includedBy(row), 'blocks-empty'))) return [];
    const half = rows.some((row) => this.told.isTold(includedBy(row), 'blocks-half'));
    return half ? rows.slice(0, Math.floor(rows.length / 2)) : rows;
  }

  /** What is left of a list of transactions that a lie shortens. */
  cutTransactions(rows: readonly TransactionRow[]): readonly TransactionRow[] {
    if (this.told.isPlain) return rows;
    if (rows.some((row) => this.told.isTold(this.masterchainSeqno(row), 'transactions-empty'))) return [];
    const half = rows.some((row) => this.told.isTold(this.masterchainSeqno(row), 'transactions-half'));
    return half ? rows.slice(0, Math.floor(rows.length / 2)) : rows;
  }

  /** Actions of a trace; none until they are written. */
  classified(trace: TraceRow): readonly ActionRow[] {
    return endSeqno(trace) > this.head() - this.#actionLag ? [] : this.actions.of(trace);
  }

  /** Masterchain seqno that includes a transaction. */
  masterchainSeqno(row: TransactionRow): number {
    return row.shown?.seqno ?? this.seqnoIn(row.template.period, row.template.phase, row.transaction, row.epoch);
  }

  seqnoIn(period: number, phase: number, transaction: Transaction, epoch: number): number {
    const own = period === EPOCH_BLOCKS ? transaction.slot : 0;
    return seqnoOf(phase + period * epoch + own + transaction.block.included - transaction.block.slot);
  }

  isVisible(row: TransactionRow): boolean {
    return this.isIndexed(this.masterchainSeqno(row));
  }

  /** The two sides of a message, as far as they are indexed. */
  sidesOf({ template, message, epoch }: MessageRow): {
    readonly sent: boolean;
    readonly received: boolean;
    readonly consumedIn: number;
  } {
    const { from, to } = message;
    const consumedIn = epoch + (from === undefined || to === undefined ? 0 : to.cycle - from.cycle);
    const shown = (transaction: Transaction | undefined, at: number): boolean =>
      transaction !== undefined && this.isIndexed(this.seqnoIn(template.period, template.phase, transaction, at));
    return { sent: shown(from, epoch), received: shown(to, consumedIn), consumedIn };
  }

  forms(row: { readonly template: TransactionRow['template'] }): TransactionForms {
    const known = this.#forms.get(row.template.family);
    if (known !== undefined) return known;
    const made = new TransactionForms(row.template, this.chain.codec);
    this.#forms.set(row.template.family, made);
    return made;
  }

  writeTransaction(to: PageWriter, row: TransactionRow): void {
    if (row.shown?.edit !== undefined) to.text(row.shown.edit(this.transactionText(row)));
    else this.#form(row).write(to, row.epoch);
  }

  #form(row: TransactionRow): Form {
    return this.forms(row).of(row.transaction, row.epoch === 0 ? 'first' : 'later');
  }

  /** The JSON of one transaction. */
  transactionText(row: TransactionRow): string {
    return this.#form(row).textAt(row.epoch);
  }

  transactionHash({ template, transaction, epoch }: TransactionRow): string {
    return this.chain.codec.hash(template.family, HASH_KIND.transaction, transaction.id, epoch);
  }

  /** Hash of the transaction that the trace of a row began with. */
  traceId({ template, transaction, epoch }: TransactionRow): string {
    const root = transaction.root ?? transaction;
    const began = epoch - transaction.cycle + root.cycle;
    return this.chain.codec.hash(template.family, HASH_KIND.transaction, root.id, began);
  }

  /** Unix seconds of a row. */
  nowOf(row: TransactionRow): number {
    const { period, phase } = row.template;
    return utimeOf(phase + period * row.epoch + (period === EPOCH_BLOCKS ? row.transaction.slot : 0));
  }

  /** Unix seconds a message was made at. */
  createdAt({ template, message, epoch }: MessageRow): number {
    const own = template.period === EPOCH_BLOCKS ? (message.from?.slot ?? 0) : 0;
    return utimeOf(template.phase + template.period * epoch + own);
  }

  /** A message as `/messages` shows it, with the transactions of the sides that are asked for. */
  writeMessage(to: PageWriter, row: MessageRow, links: string): void {
    const form = new Form(row.template, this.chain.codec);
    this.forms(row).message(form, row.message, 0, () => {
      form.text(links);
    });
    form.seal().write(to, row.epoch);
  }

  /** The inbound externals of the whole chain; `list` reads them, again only when the head or a hole may have changed. */
  inboundExternals(list: () => readonly ListedMessage[]): readonly ListedMessage[] {
    const { holes, holeRate } = this.faults();
    const head = this.head();
    if (this.#externals?.head === head && holes.length === 0 && holeRate === 0) return this.#externals.rows;
    const rows = list();
    this.#externals = { head, rows };
    return rows;
  }

  /** What the decoder makes of the bodies that occur in ordinary epochs. */
  knownBodies(): ReadonlyMap<string, string> {
    this.#bodies ??= new Map(this.chain.epoch.messages.map(({ body }) => [body.boc, body.decoded]));
    return this.#bodies;
  }

  /** Raw form of an address; undefined when it is none. */
  normalized(text: string): string | undefined {
    return parseAddress(text);
  }

  /** A writer to build one answer in; give it back when the bytes are copied. */
  borrow(): PageWriter {
    const page = this.#spare ?? new PageWriter(this.chain.codec, 1 << 20);
    this.#spare = undefined;
    page.clear();
    return page;
  }

  giveBack(page: PageWriter): void {
    this.#spare = page;
  }
}
