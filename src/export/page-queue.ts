import PQueue from 'p-queue';

/** Bytes of pages that may be under way, from the request until they are decoded. */
const BYTES = 32 * 2 ** 20;
/** What a page is taken for before one was seen. */
const GUESS = 8 * 2 ** 20;
const LEAST_PAGES = 2;
/** How slowly a large page is forgotten. */
const MEMORY = 0.95;

/** Bounds the pages under way: by number, and by bytes as far as the pages so far tell. */
export class PageQueue {
  private readonly queue: PQueue;
  private readonly most: number;
  private typical = GUESS;

  /** @param most pages under way at once, whatever their size */
  constructor(most: number) {
    this.most = most;
    this.queue = new PQueue({ concurrency: this.fitting() });
  }

  /** @param isMore whether it goes on with what is under way: that comes first */
  add<T>(work: () => Promise<T>, isMore = false): Promise<T> {
    return this.queue.add(work, { priority: isMore ? 1 : 0 });
  }

  /** Waits until there is not much to do before what is added next. */
  room(): Promise<void> {
    return this.queue.onSizeLessThan(this.most);
  }

  /** Takes note of the size of a page. */
  learn(bytes: number): void {
    this.typical = Math.max(bytes, this.typical * MEMORY);
    this.queue.concurrency = this.fitting();
  }

  private fitting(): number {
    return Math.min(this.most, Math.max(LEAST_PAGES, Math.floor(BYTES / this.typical)));
  }
}
