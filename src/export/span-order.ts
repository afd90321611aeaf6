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

interface Running {
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** Keeps the rows of spans that are walked side by side in order. */
export class SpanOrder {
  /** Spans that others wait for, in order. */
  private readonly running: Running[] = [];

  /** The turn of the next span. */
  next(): SpanTurn {
    const before = [...this.running];
    const own = this.start();
    this.running.push(own);
    return {
      end: own.end,
      reached: async (limit) => {
        const late = before.filter((span) => this.running.includes(span));
        if (late.length === 0) return;
        const inTime = new AbortController();
        const over = limit(inTime.signal).catch(() => {});
        await Promise.race([Promise.all(late.map(({ ended }) => ended)), over]);
        inTime.abort();
        for (const { end } of late) end();
      },
    };
  }

  private start(): Running {
    let resolve: () => void = () => {};
    const ended = new Promise<void>((done) => {
      resolve = done;
    });
    const own: Running = {
      ended,
      end: () => {
        const at = this.running.indexOf(own);
        if (at >= 0) this.running.splice(at, 1);
        resolve();
      },
    };
    return own;
  }
}
