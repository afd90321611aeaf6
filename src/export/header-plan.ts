import { spanSize } from '../core/span.ts';
import { type Latch, newLatch } from './latch.ts';
import { type LtWindow, planEvenWindows, rangeOf, widthOf } from './lt-windows.ts';
import { PAGE_ROWS } from './page-request.ts';
import type { HeaderEnds } from './shard-states.ts';

/** Headers of the first window, as the states of the shards suggest: shards split, and some have several blocks. */
const PROBE_ROWS = 650;
/** Minimum headers of a window that shows how much windows differ. */
const ENOUGH_ROWS = 500;
/** Share of a page that is left empty: minimum, maximum, and factor for the largest excess of earlier windows. */
const MARGIN = { least: 0.01, most: 0.75, byExcess: 1.2 } as const;
/** Decay of the largest excess, by round. */
const MEMORY = 0.7;

/**
 * Plans windows of headers that nearly fill a page, from the density of earlier pages. A full page is incomplete and must be requested
 * again, so the first rounds are small: 1, 2, 4, 8 windows, and so on.
 */
export class HeaderPlan {
  private rows = 0;
  private width = 0;
  private excess = 0;
  private excessNow = 0;
  private round = 1;
  private isProbed = false;
  private readonly known: Latch;

  constructor(stop: AbortSignal) {
    this.known = newLatch(stop);
  }

  /** Resolves when the first pages of headers are loaded. */
  get begun(): Promise<void> {
    return this.known.opened;
  }

  /** Lets the other spans begin. */
  readonly open = (): void => this.known.open();

  /** Windows with all headers of a span. Each list is planned by the pages of the ones before. */
  async *windowsOf({ span, before = [], after }: HeaderEnds): AsyncGenerator<readonly LtWindow[]> {
    const range = { from: (rangeOf(before)?.from ?? 0n) + 1n, to: greatestStart(after) };
    // Spans that begin at the same time wait for the first window.
    if (this.isProbed) await this.begun;
    this.isProbed = true;
    const guess = (spanSize(span) * Math.max(before.length, after.length)) / widthOf(range);
    for (let from = range.from; from <= range.to; ) {
      const isKnown = this.rows > 0;
      const margin = Math.min(MARGIN.most, Math.max(MARGIN.least, MARGIN.byExcess * this.excess));
      const target = isKnown ? PAGE_ROWS * (1 - margin) : PROBE_ROWS;
      const density = isKnown ? this.rows / this.width : guess;
      const most = BigInt(Math.max(1, Math.floor((this.round * target) / density)));
      const to = from + most - 1n < range.to ? from + most - 1n : range.to;
      const window = { from, to };
      yield planEvenWindows(window, Math.floor(density * widthOf(window)), target);
      from = to + 1n;
      this.round *= 2;
      [this.excess, this.excessNow] = [Math.max(this.excessNow, this.excess * MEMORY), 0];
      this.open();
    }
  }

  /** Notes the page of a window. */
  learn(window: LtWindow, rows: number): void {
    const width = widthOf(window);
    if (this.rows > 0 && rows >= ENOUGH_ROWS) {
      this.excessNow = Math.max(this.excessNow, (rows * this.width) / (this.rows * width) - 1);
    }
    if (rows >= PAGE_ROWS) return;
    this.rows += rows;
    this.width += width;
  }
}

function greatestStart(headers: HeaderEnds['after']): bigint {
  return headers.reduce((most, { startLt }) => (startLt > most ? startLt : most), 0n);
}
