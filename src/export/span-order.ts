import { type Latch, newLatch } from './latch.ts';

/** The turn of one of several spans that are walked side by side. */
export interface SpanTurn {
  /**
   * Waits until the spans before have ended, or `limit` is over: then they are overtaken, and nobody waits for them any more.
   *
   * @param limit stops when its signal is aborted
   */
  reached(limit: (stop: AbortSignal) => Promise<void>): Promise<void>;
  /** Lets the spans after go on. */
  end(): void;
}

/** Keeps the rows of spans that are walked side by side in order. */
export class SpanOrder {
  /** Spans that others wait for, in order. */
  private readonly running = new Set<Latch>();

  /** The turn of the next span. */
  next(): SpanTurn {
    const before = [...this.running];
    const own = newLatch();
    this.running.add(own);
    return {
      end: () => this.end(own),
      reached: async (limit) => {
        const late = before.filter((span) => this.running.has(span));
        if (late.length === 0) return;
        const inTime = new AbortController();
        await Promise.race([Promise.all(late.map(({ opened }) => opened)), limit(inTime.signal).catch(() => {})]);
        inTime.abort();
        for (const span of late) this.end(span);
      },
    };
  }

  private end(span: Latch): void {
    this.running.delete(span);
    span.open();
  }
}
