import type { ActionRow, Actions } from '../actions/actions.ts';
import type { Chain, ChainOptions } from '../chain/chain.ts';
import { FIRST_SEQNO } from '../chain/clock.ts';
import {
  type BlockRow,
  type MessageRow,
  masterchainSeqno,
  seqnoIn,
  type Transaction,
  type TransactionRow,
} from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { endSeqno, memberEpoch, type TraceIndex, type TraceRow } from '../chain/trace-index.ts';
import type { SandboxFaults } from '../faults.ts';
import type { IsLate } from '../lateness.ts';
import type { LieKind } from '../lies/kinds.ts';
import { includedBy, Told } from '../lies/tampered-chain.ts';
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
  readonly isLate: IsLate;
}

/** What endpoints read: the chain up to the head, without the blocks that are not indexed yet. */
export class View {
  readonly chain: Chain;
  readonly traces: TraceIndex;
  readonly blocks: BlockPages;
  readonly addresses: AddressBookPages;
  readonly actions: Actions;
  readonly latestStates: LatestStates;
  /** The chain as it is listed, including lies. */
  readonly told: Told;
  readonly head: () => number;
  readonly faults: () => SandboxFaults;
  /** The buffer in which responses are built, one at a time. */
  readonly page = new PageWriter(1 << 20);
  readonly #actionLag: number;
  readonly #isHole: (seqno: number) => boolean;
  readonly #isLate: IsLate;
  readonly #network: SharedNetwork;
  #bodies: ReadonlyMap<string, string> | undefined;
  #externals: { readonly head: number; readonly rows: readonly ListedMessage[] } | undefined;

  constructor(
    seed: number,
    head: () => number,
    isHole: (seqno: number) => boolean,
    faults: () => SandboxFaults,
    options: ViewOptions,
  ) {
    this.#network = sharedNetwork(seed, options);
    this.chain = this.#network.chain;
    this.traces = this.#network.traces;
    this.actions = this.#network.actions;
    this.blocks = this.#network.blocks;
    this.latestStates = new LatestStates(this.chain, head);
    this.#actionLag = options.actionLag;
    this.addresses = new AddressBookPages(this.chain.codec);
    this.head = head;
    this.#isHole = isHole;
    this.#isLate = options.isLate;
    this.faults = faults;
    this.told = new Told(this.chain, this.blocks, () => faults().lies);
  }

  /** Whether a masterchain block, with everything in it, is indexed. */
  isIndexed(seqno: number): boolean {
    return seqno >= FIRST_SEQNO && seqno <= this.head() && !this.#isHole(seqno);
  }

  /** Whether nothing of a masterchain block is missing. */
  isWhole(seqno: number): boolean {
    return this.isIndexed(seqno) && !this.#isLate(seqno, 'lateRows') && !this.#isLate(seqno, 'lateShards');
  }

  /** Transactions listed in a masterchain block, by lt and account. */
  listedIn(seqno: number): readonly TransactionRow[] {
    const rows = this.told.includedIn(seqno);
    return this.isWhole(seqno) ? rows : rows.filter(({ transaction }) => !this.#areRowsLate(seqno, transaction));
  }

  /** Whether the transactions of a masterchain block can be requested. */
  hasTransactions(seqno: number): boolean {
    return this.isIndexed(seqno) && !this.told.isTold(seqno, 'hole-forever') && !this.#isLate(seqno, 'lateRows');
  }

  /** @throws {ApiError} 404 if the transactions of a masterchain block cannot be requested */
  requireTransactions(seqno: number): void {
    demand(this.hasTransactions(seqno), `masterchain block ${seqno} not found`, 404);
  }

  /** @throws {ApiError} 500 if a list has more rows than the server can read in time */
  requireLight(rows: number): void {
    const { heavyRows } = this.faults();
    demand(heavyRows === 0 || rows <= heavyRows, 'timeout: context deadline exceeded', 500);
  }

  /** A list of blocks, shortened if there is a lie about it. */
  cutBlocks(rows: readonly BlockRow[]): readonly BlockRow[] {
    return this.#cut(rows, includedBy, 'blocks-empty', 'blocks-half');
  }

  /** A list of transactions, shortened if there is a lie about it. */
  cutTransactions(rows: readonly TransactionRow[]): readonly TransactionRow[] {
    return this.#cut(rows, masterchainSeqno, 'transactions-empty', 'transactions-half');
  }

  #cut<T>(rows: readonly T[], seqnoOf: (row: T) => number, empty: LieKind, half: LieKind): readonly T[] {
    if (this.told.isPlain) return rows;
    if (rows.some((row) => this.told.isTold(seqnoOf(row), empty))) return [];
    return rows.some((row) => this.told.isTold(seqnoOf(row), half)) ? rows.slice(0, Math.floor(rows.length / 2)) : rows;
  }

  /** Actions of a trace; none until they are indexed. */
  classified(trace: TraceRow): readonly ActionRow[] {
    return endSeqno(trace) > this.head() - this.#actionLag ? [] : this.actions.of(trace);
  }

  isVisible(row: TransactionRow): boolean {
    return this.#isThere(masterchainSeqno(row), row.transaction);
  }

  /** Whether a trace is complete: its last block is there, even if an earlier one is not. */
  isComplete(trace: TraceRow): boolean {
    const { template, members } = trace.plan;
    const end = endSeqno(trace);
    if (!this.isIndexed(end) || this.isWhole(end)) return this.isIndexed(end);
    const last = members.filter((member) => seqnoIn(template, member, memberEpoch(trace, member)) === end);
    return last.every((member) => !this.#areRowsLate(end, member));
  }

  #isThere(seqno: number, transaction: Transaction): boolean {
    return this.isIndexed(seqno) && !this.#areRowsLate(seqno, transaction);
  }

  /** Whether a transaction comes later than the masterchain block that includes it. */
  #areRowsLate(seqno: number, { block }: Transaction): boolean {
    if (this.#isLate(seqno, 'lateRows')) return true;
    if (block.name.workchain === -1 || !this.#isLate(seqno, 'lateShards')) return false;
    const first = this.chain.includedIn(seqno).find(({ transaction }) => transaction.block.name.workchain !== -1);
    return first?.transaction.block === block;
  }

  /** Which sides of a message are indexed, and the epoch in which it is received. */
  sidesOf({ template, message: { from, to }, epoch }: MessageRow): {
    readonly sent: boolean;
    readonly received: boolean;
    readonly consumedIn: number;
  } {
    const consumedIn = epoch + (from === undefined || to === undefined ? 0 : to.cycle - from.cycle);
    const shown = (transaction: Transaction | undefined, at: number): boolean =>
      transaction !== undefined && this.#isThere(seqnoIn(template, transaction, at), transaction);
    return { sent: shown(from, epoch), received: shown(to, consumedIn), consumedIn };
  }

  #formOf({ template, transaction, epoch }: TransactionRow): Form {
    return this.#network.formsOf(template).of(transaction, epoch === 0);
  }

  writeTransaction(to: PageWriter, row: TransactionRow): void {
    if (row.shown?.edit !== undefined) to.text(row.shown.edit(this.transactionText(row)));
    else this.#formOf(row).write(to, row.epoch);
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

  /** The inbound externals of the whole chain; `list` reads them, again only if the head or a hole may have changed. */
  inboundExternals(list: () => readonly ListedMessage[]): readonly ListedMessage[] {
    const { holes, holeRate, lateBlocks, lateRows, lateShards } = this.faults();
    const head = this.head();
    const isWhole = holes.length === 0 && holeRate + lateBlocks + lateRows + lateShards === 0;
    if (this.#externals?.head === head && isWhole) return this.#externals.rows;
    const rows = list();
    this.#externals = { head, rows };
    return rows;
  }

  /** The decoded form of all bodies in ordinary epochs. */
  knownBodies(): ReadonlyMap<string, string> {
    this.#bodies ??= new Map(this.chain.epoch.messages.map(({ body }) => [body.boc, body.decoded]));
    return this.#bodies;
  }
}
