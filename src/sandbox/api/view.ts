import { Chain, type MessageRow, type TransactionRow } from '../chain/chain.ts';
import { EPOCH_BLOCKS, epochOf, FIRST_SEQNO, seqnoOf, utimeOf } from '../chain/clock.ts';
import type { Transaction } from '../chain/model.ts';
import type { SandboxFaults } from '../faults.ts';
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

/** What the endpoints read: the chain up to a head, without the blocks that are not indexed yet. */
export class View {
  readonly chain: Chain;
  readonly blocks: BlockPages;
  readonly addresses: AddressBookPages;
  readonly head: () => number;
  readonly faults: () => SandboxFaults;
  readonly #isHole: (seqno: number) => boolean;
  readonly #forms = new Map<number, TransactionForms>();
  #spare: PageWriter | undefined;
  #externals: { readonly head: number; readonly rows: readonly ListedMessage[] } | undefined;

  constructor(seed: number, head: () => number, isHole: (seqno: number) => boolean, faults: () => SandboxFaults) {
    this.chain = new Chain(seed);
    this.blocks = new BlockPages(this.chain);
    this.addresses = new AddressBookPages(this.chain.codec);
    this.head = head;
    this.#isHole = isHole;
    this.faults = faults;
  }

  /** Whether a masterchain block and all that belongs to it is there. */
  isIndexed(seqno: number): boolean {
    return seqno >= FIRST_SEQNO && seqno <= this.head() && !this.#isHole(seqno);
  }

  /** Masterchain seqno that includes a transaction. */
  masterchainSeqno(row: TransactionRow): number {
    return this.seqnoIn(row.template.period, row.template.phase, row.transaction, row.epoch);
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
    this.forms(row)
      .of(row.transaction, row.epoch === 0 ? 'first' : 'later')
      .write(to, row.epoch);
  }

  /** The JSON of one transaction. */
  transactionText(row: TransactionRow): string {
    return this.forms(row)
      .of(row.transaction, row.epoch === 0 ? 'first' : 'later')
      .textAt(row.epoch);
  }

  /** The ordinary epoch that a row falls into. */
  ordinaryEpoch(row: TransactionRow): number {
    return epochOf(row.template.phase + row.template.period * row.epoch);
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
