/** Fetches rows and commits them; awaits `compared` before each commit. */
export type Committing = (compared: () => Promise<void>) => Promise<void>;

/**
 * Lets pipelines share comparisons of the chain: a comparison speaks for all rows that were fetched before it. Each pipeline fetches its rows
 * after the one before has come to a commit. When all have come to one, or have ended, the chain is compared, and those commits go on.
 *
 * @throws the first error, after all have ended
 */
export async function shareComparisons(all: readonly Committing[], compare: () => Promise<void>): Promise<void> {
  const sharing = new Sharing(compare);
  const ends: Promise<void>[] = [];
  for (const committing of all) {
    const { arrived, end } = sharing.begin(committing);
    ends.push(end);
    const isFailed = await Promise.race([arrived, end.then(() => false)]).catch(() => true);
    if (isFailed) break;
  }
  sharing.close();
  for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
}

/** A commit that waits for the next comparison. */
interface Waiting {
  readonly of: Committing;
  readonly goOn: () => void;
  readonly fail: (error: unknown) => void;
}

class Sharing {
  private readonly compare: () => Promise<void>;
  private readonly running = new Set<Committing>();
  private waiting: readonly Waiting[] = [];
  /** Others begin. */
  private isOpen = true;
  private isComparing = false;

  constructor(compare: () => Promise<void>) {
    this.compare = compare;
  }

  /** @returns its first commit, and its end */
  begin(of: Committing): { readonly arrived: Promise<false>; readonly end: Promise<void> } {
    this.running.add(of);
    let arrive = (): void => undefined;
    const arrived = new Promise<false>((resolve) => {
      arrive = () => resolve(false);
    });
    const compared = (): Promise<void> =>
      new Promise((goOn, fail) => {
        this.waiting = [...this.waiting, { of, goOn, fail }];
        arrive();
        this.next();
      });
    const end = of(compared).finally(() => {
      this.running.delete(of);
      this.next();
    });
    // Whoever awaits all of them gets the error.
    end.catch(() => undefined);
    return { arrived, end };
  }

  /** No other begins. */
  close(): void {
    this.isOpen = false;
    this.next();
  }

  /** Compares for the commits that wait, unless another one may come soon. */
  private next(): void {
    const { waiting, running } = this;
    const isReady = [...running].every((each) => waiting.some(({ of }) => of === each));
    if (this.isOpen || this.isComparing || waiting.length === 0 || !isReady) return;
    this.isComparing = true;
    this.waiting = [];
    this.compare()
      .then(
        () => {
          for (const { goOn } of waiting) goOn();
        },
        (error: unknown) => {
          for (const { fail } of waiting) fail(error);
        },
      )
      .finally(() => {
        this.isComparing = false;
        this.next();
      });
  }
}
