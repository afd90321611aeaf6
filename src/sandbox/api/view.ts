import type { ActionRow, Actions } from '../actions/actions.ts';
import type { Chain, ChainOptions } from '../chain/chain.ts';
import { FIRST_SEQNO } from '../chain/clock.ts';
import { type MessageRow, masterchainSeqno, seqnoIn, type Transaction, type TransactionRow } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, type TraceIndex, type TraceRow } from '../chain/trace-index.ts';
import { AddressBookPages } from '../page/addresses.ts';
import type { BlockPages } from '../page/blocks.ts';
import { Form } from '../page/form.ts';
import { PageWriter } from '../page/writer.ts';
import { LatestStates } from './latest-states.ts';
import { demand } from './params.ts';
import { type SharedNetwork, sharedNetwork } from './shared-network.ts';

/** A message with its sort keys and the transactions that are shown with it. */
export interface ListedMessage extends MessageRow {
  readonly hash: string;
  readonly inbound: string | undefined;
  readonly outbound: string | undefined;
}

/** Options of a network besides its seed. */
interface ViewOptions extends ChainOptions {
  /** How many blocks actions are behind the head. */
  readonly actionLag: number;
}

/** What endpoints read: the chain up to the head. */
export class View {
  readonly chain: Chain;
  readonly traces: TraceIndex;
  readonly blocks: BlockPages;
  readonly addresses: AddressBookPages;
  readonly actions: Actions;
  readonly latestStates: LatestStates;
  readonly head: () => number;
  /** The buffer in which responses are built, one at a time. */
  readonly page = new PageWriter(1 << 20);
  readonly #actionLag: number;
  readonly #network: SharedNetwork;
  #bodies: ReadonlyMap<string, string> | undefined;
  #externals: { readonly head: number; readonly rows: readonly ListedMessage[] } | undefined;

  constructor(seed: number, head: () => number, options: ViewOptions) {
    this.#network = sharedNetwork(seed, options);
    this.chain = this.#network.chain;
    this.traces = this.#network.traces;
    this.actions = this.#network.actions;
    this.blocks = this.#network.blocks;
    this.latestStates = new LatestStates(this.chain, head);
    this.#actionLag = options.actionLag;
    this.addresses = new AddressBookPages(this.chain.codec);
    this.head = head;
  }

  /** Whether a masterchain block, with everything in it, is indexed. */
  isIndexed(seqno: number): boolean {
    return seqno >= FIRST_SEQNO && seqno <= this.head();
  }

  /** @throws {ApiError} 404 if the transactions of a masterchain block cannot be requested */
  requireTransactions(seqno: number): void {
    demand(this.isIndexed(seqno), `masterchain block ${seqno} not found`, 404);
  }

  /** Actions of a trace; none until they are indexed. */
  classified(trace: TraceRow): readonly ActionRow[] {
    return endSeqno(trace) > this.head() - this.#actionLag ? [] : this.actions.of(trace);
  }

  isVisible(row: TransactionRow): boolean {
    return this.isIndexed(masterchainSeqno(row));
  }

  /** Whether the last block of a trace is there. */
  isComplete(trace: TraceRow): boolean {
    return this.isIndexed(endSeqno(trace));
  }

  /** Which sides of a message are indexed, and the epoch in which it is received. */
  sidesOf({ template, message: { from, to }, epoch }: MessageRow): {
    readonly sent: boolean;
    readonly received: boolean;
    readonly consumedIn: number;
  } {
    const consumedIn = epoch + (from === undefined || to === undefined ? 0 : to.cycle - from.cycle);
    const shown = (transaction: Transaction | undefined, at: number): boolean =>
      transaction !== undefined && this.isIndexed(seqnoIn(template, transaction, at));
    return { sent: shown(from, epoch), received: shown(to, consumedIn), consumedIn };
  }

  #formOf({ template, transaction, epoch }: TransactionRow): Form {
    return this.#network.formsOf(template).of(transaction, epoch === 0);
  }

  writeTransaction(to: PageWriter, row: TransactionRow): void {
    this.#formOf(row).write(to, row.epoch);
  }

  /** The JSON of a transaction. */
  transactionText(row: TransactionRow): string {
    return this.#formOf(row).textAt(row.epoch);
  }

  transactionHash({ template, transaction, epoch }: TransactionRow): string {
    return this.chain.codec.hash(template.family, HASH_KIND.transaction, transaction.id, epoch);
  }

  /** Hash of the first transaction of the trace. */
  traceId({ template, transaction, epoch }: TransactionRow): string {
    const root = transaction.root ?? transaction;
    const began = epoch - transaction.cycle + root.cycle;
    return this.chain.codec.hash(template.family, HASH_KIND.transaction, root.id, began);
  }

  /** Writes a message as `/messages` shows it; `links` are the keys of its transactions. */
  writeMessage(to: PageWriter, { template, message, epoch }: MessageRow, links: string): void {
    new Form(this.#network.formsOf(template).message(message, 0, links)).write(to, epoch);
  }

  /** The inbound externals of the whole chain; `list` reads them, again only if the head has moved. */
  inboundExternals(list: () => readonly ListedMessage[]): readonly ListedMessage[] {
    const head = this.head();
    if (this.#externals?.head !== head) this.#externals = { head, rows: list() };
    return this.#externals.rows;
  }

  /** The decoded form of all bodies in ordinary epochs. */
  knownBodies(): ReadonlyMap<string, string> {
    this.#bodies ??= new Map(this.chain.epoch.messages.map(({ body }) => [body.boc, body.decoded]));
    return this.#bodies;
  }
}
