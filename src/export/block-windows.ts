import type { Header } from '../chain/headers.ts';
import { type Span, spanSize } from '../core/span.ts';
import { halve, type LtWindow, rangeOf } from './lt-windows.ts';
import { txCountOf } from './span-proof.ts';

/** Expected share of a page that a window fills: far enough below a full page that few are halved. */
export const WINDOW_FILL = 0.7;

interface BlockRange {
  readonly seqno: number;
  readonly transactions: number;
  readonly range: LtWindow;
}

/**
 * Windows of logical time over the masterchain blocks of a span, by their headers. The last transaction of a record is in its block, so the
 * windows that overlap a block have all its records. A block is answered when all its windows are.
 */
export class BlockWindows {
  /** Blocks whose windows are all answered. */
  readonly answered = new Set<number>();
  planned: readonly LtWindow[] = [];
  private readonly blocks: readonly BlockRange[];
  /** Number of outstanding windows, by block. */
  private readonly open = new Map<number, number>();
  private begun = 0;

  /** @param headers of all blocks of the span */
  constructor(span: Span, headers: ReadonlyMap<number, readonly Header[]>) {
    this.blocks = Array.from({ length: spanSize(span) }, (_, at) => {
      const own = headers.get(span.from + at) ?? [];
      const range = rangeOf(own);
      return range === undefined ? [] : [{ seqno: span.from + at, transactions: txCountOf(own), range }];
    }).flat();
  }

  /** Transactions of the span: the usual maximum of its records. */
  get transactions(): number {
    return this.blocks.reduce((sum, { transactions }) => sum + transactions, 0);
  }

  /** Cuts the span into windows with about equally many transactions. @param rows expected records @param limit maximum records of a page */
  plan(rows: number, limit: number): void {
    const [first] = this.blocks;
    if (first === undefined) return;
    const count = Math.max(1, Math.ceil(rows / (limit * WINDOW_FILL)));
    const most = this.transactions / count;
    const ranges = this.blocks.map(({ range }) => range);
    const end = ranges.reduce((last, { to }) => (to > last ? to : last), first.range.to);
    let from = ranges.reduce((least, range) => (range.from < least ? range.from : least), first.range.from);
    const windows: LtWindow[] = [];
    let transactions = 0;
    for (const block of this.blocks) {
      transactions += block.transactions;
      if (transactions < most * (windows.length + 1) || block.range.to < from || block.range.to >= end) continue;
      windows.push({ from, to: block.range.to });
      from = block.range.to + 1n;
    }
    this.planned = [...windows, { from, to: end }];
    this.begin(this.planned);
  }

  /** Notes that the rows of a window were loaded. */
  take(window: LtWindow): void {
    for (const seqno of this.blocksIn(window)) {
      const left = (this.open.get(seqno) ?? 0) - 1;
      this.open.set(seqno, left);
      if (left === 0) this.answered.add(seqno);
    }
  }

  /** Halves of a full window; none if requesting its blocks one by one is cheaper: a source may ignore the bounds. */
  halve(window: LtWindow): readonly LtWindow[] {
    const isCheaper = this.begun + 2 <= this.blocks.length && this.blocksIn(window).length > 1;
    const halves = isCheaper ? halve(window) : undefined;
    if (halves === undefined) return [];
    this.begin(halves);
    this.take(window);
    return halves;
  }

  private begin(windows: readonly LtWindow[]): void {
    this.begun += windows.length;
    for (const seqno of windows.flatMap((window) => this.blocksIn(window))) {
      this.open.set(seqno, (this.open.get(seqno) ?? 0) + 1);
    }
  }

  private blocksIn({ from, to }: LtWindow): readonly number[] {
    return this.blocks.filter(({ range }) => range.from <= to && range.to >= from).map(({ seqno }) => seqno);
  }
}
