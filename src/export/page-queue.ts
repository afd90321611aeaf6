import PQueue from 'p-queue';

/** Maximum bytes of the pages in progress: from the request until they are decoded. */
const BYTES = 32 * 2 ** 20;
/** Assumed size of the first page. */
const GUESS = 8 * 2 ** 20;
const MIN_PAGES = 2;
/** Decay of the size of a large page, by page. */
const MEMORY = 0.95;

/** Limits the pages in progress by number, and by bytes, estimated from earlier pages. */
export class PageQueue {
  /** Names of pipelines with a page that was too heavy for the source and was requested in halves. */
  readonly halved = new Set<string>();
  private readonly queue: PQueue;
  private readonly most: number;
  private typical = GUESS;

  /** @param most maximum number of pages in progress */
  constructor(most: number) {
    this.most = most;
    this.queue = new PQueue({ concurrency: this.fitting() });
  }

  /** @param isMore true for a request that follows from another page: those come first */
  add<T>(work: () => Promise<T>, isMore = false): Promise<T> {
    return this.queue.add(work, { priority: isMore ? 1 : 0 });
  }

  /** Waits until few pages are queued. */
  room(): Promise<void> {
    return this.queue.onSizeLessThan(this.most);
  }

  /** Notes the size of a page. */
  learn(bytes: number): void {
    this.typical = Math.max(bytes, this.typical * MEMORY);
    this.queue.concurrency = this.fitting();
  }

  private fitting(): number {
    return Math.min(this.most, Math.max(MIN_PAGES, Math.floor(BYTES / this.typical)));
  }
}
