import type { ActionRow, Actions } from '../actions/actions.ts';
import type { Chain, ChainOptions } from '../chain/chain.ts';
import { FIRST_SEQNO } from '../chain/clock.ts';
import { backOf, type MessageRow, masterchainSeqno, type Transaction, type TransactionRow } from '../chain/model.ts';
import { endSeqno, type TraceIndex, type TraceRow } from '../chain/trace-index.ts';
import { AddressBookPages } from '../page/addresses.ts';
import type { BlockPages } from '../page/blocks.ts';
import type { TransactionTexts } from '../page/transactions.ts';
import { demand } from './errors.ts';
import { LatestStates } from './latest-states.ts';
import { sharedNetwork } from './shared-network.ts';

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
  readonly records: TransactionTexts;
  readonly #actionLag: number;
  #bodies: ReadonlyMap<string, string> | undefined;
  #externals: { readonly head: number; readonly rows: readonly ListedMessage[] } | undefined;

  constructor(seed: number, head: () => number, options: ViewOptions) {
    const network = sharedNetwork(seed, options);
    this.chain = network.chain;
    this.traces = network.traces;
    this.actions = network.actions;
    this.blocks = network.blocks;
    this.records = network.records;
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

  /** The transactions of a message that are indexed. */
  sidesOf({ template, message, epoch }: MessageRow): {
    readonly sent: TransactionRow | undefined;
    readonly received: TransactionRow | undefined;
  } {
    const shown = (transaction: Transaction | undefined, at: number): TransactionRow | undefined => {
      const row = transaction && this.chain.row(template, transaction, at);
      return row !== undefined && this.isVisible(row) ? row : undefined;
    };
    return { sent: shown(message.from, epoch), received: shown(message.to, epoch + backOf(message)) };
  }

  transactionByHash(hash: string): TransactionRow | undefined {
    return this.chain.transactionByHash(hash, this.head());
  }

  messageByHash(hash: string): MessageRow | undefined {
    return this.chain.messageByHash(hash, this.head());
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
