import { byLtAndAccount, type Chain } from '../chain/chain.ts';
import { EPOCH_BLOCKS, ltOf, seqnoOf, slotOf, slotOfLt } from '../chain/clock.ts';
import { type BlockRef, type BlockRow, masterchainSeqno, type TransactionRow } from '../chain/model.ts';
import type { BlockPages } from '../page/blocks.ts';
import { lieAboutHeaders, lieAboutState } from './headers.ts';
import type { Lie, LieKind } from './kinds.ts';
import { lieAboutTransactions } from './transactions.ts';

/** The chain as it is listed: with lies, if there are any. */
export class Told {
  readonly #chain: Chain;
  readonly #pages: BlockPages;
  readonly #lies: () => readonly Lie[];
  #known: readonly Lie[] = [];
  #headers = new Map<number, readonly BlockRow[]>();
  #transactions = new Map<number, readonly TransactionRow[]>();

  constructor(chain: Chain, pages: BlockPages, lies: () => readonly Lie[]) {
    this.#chain = chain;
    this.#pages = pages;
    this.#lies = lies;
  }

  /** Whether there is a lie of this kind about a masterchain block. */
  isTold(seqno: number, kind: LieKind): boolean {
    return this.#lies().some((lie) => lie.seqno === seqno && lie.kind === kind);
  }

  /** Whether there are no lies. */
  get isPlain(): boolean {
    const lies = this.#lies();
    if (lies !== this.#known) this.#tell(lies);
    return lies.length === 0;
  }

  #tell(lies: readonly Lie[]): void {
    this.#known = lies;
    this.#headers = new Map();
    this.#transactions = new Map();
    for (const { seqno, kind } of lies) {
      const headers = this.#headers.get(seqno) ?? this.#chain.blocksOf(seqno);
      const told = lieAboutHeaders(kind, headers, (row) => this.#pages.facts(row));
      if (told !== headers) this.#headers.set(seqno, told);
      this.#tellTransactions(seqno, kind);
    }
  }

  #tellTransactions(seqno: number, kind: LieKind): void {
    const rows = this.#transactions.get(seqno) ?? this.#chain.includedIn(seqno);
    const told = lieAboutTransactions(kind, {
      seqno,
      rows,
      next: this.#transactions.get(seqno + 1) ?? this.#chain.includedIn(seqno + 1),
      refOf: (row) => this.refOf(row),
      endLtOf: (row) => this.#pages.facts(this.#blockOf(row)).endLt,
    });
    if (told.rows !== rows) this.#transactions.set(seqno, told.rows);
    if (told.next !== undefined) this.#transactions.set(seqno + 1, told.next);
  }

  #blockOf(row: TransactionRow): BlockRow {
    const slot = slotOfLt(row.lt);
    return { plan: row.transaction.block, epoch: Math.floor(slot / EPOCH_BLOCKS) };
  }

  /** The block that a transaction names as its own. */
  refOf(row: TransactionRow): BlockRef {
    if (row.shown?.block !== undefined) return row.shown.block;
    const { workchain, shard, seqno, step } = row.transaction.block.name;
    return { workchain, shard, seqno: seqno + step * this.#blockOf(row).epoch };
  }

  /** Transactions listed in a masterchain block, by lt and account. */
  includedIn(seqno: number): readonly TransactionRow[] {
    const told = this.isPlain ? undefined : this.#transactions.get(seqno);
    return told ?? this.#chain.includedIn(seqno);
  }

  /** Transactions whose lt is in a slot, by lt and account. */
  madeIn(slot: number): readonly TransactionRow[] {
    const rows = this.#chain.madeIn(slot);
    if (this.isPlain || this.#transactions.size === 0) return rows;
    const [from, to] = [ltOf(slot), ltOf(slot + 1)];
    const kept = rows.filter((row) => !this.#transactions.has(masterchainSeqno(row)));
    const told = [...this.#transactions.values()].flatMap((list) => list.filter(({ lt }) => lt >= from && lt < to));
    return [...kept, ...told].sort(byLtAndAccount);
  }

  /** A transaction as it is listed, if it is. */
  shown(row: TransactionRow): TransactionRow | undefined {
    if (this.isPlain || !this.#transactions.has(masterchainSeqno(row))) return row;
    const all = [...this.#transactions.values()].flat();
    return all.find((one) => one.transaction === row.transaction && one.epoch === row.epoch);
  }

  /** Headers listed with a masterchain block. */
  blocksOf(seqno: number): readonly BlockRow[] {
    const told = this.isPlain ? undefined : this.#headers.get(seqno);
    return told ?? this.#chain.blocksOf(seqno);
  }

  /** Headers of the blocks made in a slot. */
  blocksMadeIn(slot: number): readonly BlockRow[] {
    const rows = this.#chain.blocksMadeIn(slot);
    if (this.isPlain || this.#headers.size === 0) return rows;
    const kept = rows.filter((row) => !this.#headers.has(includedBy(row)));
    const told = [...this.#headers.values()].flat();
    return [...kept, ...told.filter((row) => row.epoch * EPOCH_BLOCKS + row.plan.slot === slot)];
  }

  /** All copies of a header. */
  shownBlock(row: BlockRow): readonly BlockRow[] {
    const told = this.isPlain ? undefined : this.#headers.get(includedBy(row));
    return told?.filter((one) => sameBlock(one, row)) ?? [row];
  }

  /** The slots in which blocks of any shard can be listed with this seqno. */
  slotsOfSeqno(seqno: number): { readonly first: number; readonly last: number } {
    const named = this.#chain.slotsOfSeqno(seqno);
    const near = this.#lies().map((lie) => slotOf(lie.seqno));
    return {
      first: Math.min(named.first, ...near.map((slot) => slot - 1)),
      last: Math.max(named.last, ...near.map((slot) => slot + 1)),
    };
  }

  /** The masterchain block and the newest block of every shard; undefined if that is missing. */
  stateOf(seqno: number): readonly BlockRow[] | undefined {
    const rows = this.#chain.stateOf(seqno);
    if (this.isPlain) return rows;
    const told = rows.flatMap((row) => this.shownBlock(row).slice(0, 1));
    return this.#lies()
      .filter((lie) => lie.seqno === seqno)
      .reduce<readonly BlockRow[] | undefined>(
        (list, lie) => list && lieAboutState(lie.kind, list, (row) => this.#chain.blockBefore(row)),
        told,
      );
  }
}

function sameBlock(a: BlockRow, b: BlockRow): boolean {
  return a.plan === b.plan && a.epoch === b.epoch && a.shown?.copy === undefined;
}

/** Seqno of the masterchain block that includes a block. */
export function includedBy(row: BlockRow): number {
  return seqnoOf(row.epoch * EPOCH_BLOCKS + row.plan.included);
}
