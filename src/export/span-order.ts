import { type Latch, newLatch } from './latch.ts';

/** The turn of one of several concurrent spans. */
export interface SpanTurn {
  /**
   * Waits until earlier spans have ended, or `limit` resolves: then late spans are overtaken, and no span waits for them any more.
   *
   * @param limit stops when its signal is aborted, because the spans ended in time
   */
  reached(limit: (stop: AbortSignal) => Promise<void>): Promise<void>;
  /** Lets later spans continue. */
  end(): void;
}

/** Keeps the rows of concurrent spans in order. */
export class SpanOrder {
  /** Unfinished spans, in order. */
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
