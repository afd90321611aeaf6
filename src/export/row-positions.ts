import type { Header } from '../chain/headers.ts';
import type { LtWindow } from './lt-windows.ts';
import { PAGE_ROWS, type WindowRequest } from './page-request.ts';

/** A logical time that no block crosses: exactly `rows` rows are before it. */
interface Gap {
  readonly lt: bigint;
  readonly rows: number;
}

/** Positions of rows in the order of logical time. The headers give them exactly at the gaps between blocks, which are frequent. */
export class RowPositions {
  /** By start. */
  private readonly blocks: readonly Header[];
  /** Rows of all blocks before each. */
  private readonly rowsBefore: readonly number[];
  private readonly gaps: readonly Gap[];
  /** Mean rows of a masterchain block. */
  private readonly meanRows: number;

  constructor(headers: Iterable<Header>) {
    this.blocks = [...headers].sort((a, b) => (a.startLt < b.startLt ? -1 : a.startLt > b.startLt ? 1 : 0));
    const rowsBefore: number[] = [];
    const gaps: Gap[] = [];
    let rows = 0;
    let end = -1n;
    for (const { startLt, endLt, txCount } of this.blocks) {
      if (startLt > end) gaps.push({ lt: startLt, rows });
      if (endLt > end) end = endLt;
      rowsBefore.push(rows);
      rows += txCount;
    }
    this.rowsBefore = [...rowsBefore, rows];
    this.gaps = gaps;
    this.meanRows = rows / Math.max(1, new Set(this.blocks.map(({ mcSeqno }) => mcSeqno)).size);
  }

  /** Maximum rows that the pages of a range have room for, or lack. */
  mostRows({ from, to }: LtWindow, isStartKnown: boolean): number {
    const first = this.gapAt(from);
    const cut = this.cutAfter(first, isStartKnown);
    const started = countWhile(this.blocks, ({ startLt }) => startLt <= to);
    const lacking = cut === first ? 0 : first.rows + PAGE_ROWS - cut.rows;
    return (this.rowsBefore[started] as number) - first.rows + lacking;
  }

  /**
   * Full pages that together have every row of a range. Each is found by the gap before its first row and the rows between them, so
   * they can be requested concurrently, and the source skips few rows.
   *
   * @param isStartKnown false if rows of unknown blocks may lie at the beginning
   */
  pagesOf({ from, to }: LtWindow, isStartKnown: boolean): readonly WindowRequest[] {
    const first = this.gapAt(from);
    const end = this.rowsEndedBy(to, first);
    const pages: WindowRequest[] = [];
    let at = first.rows;
    const cut = this.cutAfter(first, isStartKnown);
    if (cut !== first && end > first.rows + PAGE_ROWS - this.meanRows) {
      const window = { from: first.lt, to: cut.lt - 1n };
      pages.push({ kind: 'window', window, offset: 0, rows: cut.rows - at, isLast: true });
      at = cut.rows;
    }
    while (at < end) {
      const rows = Math.min(PAGE_ROWS, end - at);
      const gap = this.gapBefore(at);
      const isLast = at + rows === end;
      const until = isLast ? to : (this.gapAfter(at + rows)?.lt ?? to + 1n) - 1n;
      pages.push({ kind: 'window', window: { from: gap.lt, to: until }, offset: at - gap.rows, rows, isLast });
      at += rows;
    }
    return pages;
  }

  /** Where to end the first page, so that it has room for unknown rows: those of about a block. */
  private cutAfter(first: Gap, isStartKnown: boolean): Gap {
    const cut = this.gapBefore(first.rows + PAGE_ROWS - this.meanRows);
    return !isStartKnown && cut.rows > first.rows ? cut : first;
  }

  /** The last gap at or before a logical time. */
  private gapAt(lt: bigint): Gap {
    return this.gaps[Math.max(0, countWhile(this.gaps, (gap) => gap.lt <= lt) - 1)] as Gap;
  }

  /** The last gap with at most `rows` rows before it. */
  private gapBefore(rows: number): Gap {
    return this.gaps[Math.max(0, countWhile(this.gaps, (gap) => gap.rows <= rows) - 1)] as Gap;
  }

  /** The first gap with at least `rows` rows before it. */
  private gapAfter(rows: number): Gap | undefined {
    return this.gaps[countWhile(this.gaps, (gap) => gap.rows < rows)];
  }

  /** Rows of the blocks that end at or before `to`, which is after the gap `first`. */
  private rowsEndedBy(to: bigint, first: Gap): number {
    const last = this.gapAt(to);
    let rows = Math.max(first.rows, last.rows);
    for (let at = countWhile(this.blocks, ({ startLt }) => startLt < last.lt); at < this.blocks.length; at++) {
      const { startLt, endLt, txCount } = this.blocks[at] as Header;
      if (startLt > to) break;
      if (endLt <= to) rows += txCount;
    }
    return rows;
  }
}

/** Number of elements at the start of a sorted list for which `isBefore` holds. */
export function countWhile<T>(sorted: readonly T[], isBefore: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
