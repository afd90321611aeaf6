/** Fetches rows and commits them, and awaits `compared` before each commit. */
export type Committing = (compared: () => Promise<void>) => Promise<void>;

/** A commit that waits for a comparison. */
interface Waiting {
  readonly resume: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets pipelines share comparisons of the chain: a comparison is valid for all rows that were fetched before it. A pipeline starts to fetch
 * when the one before it reaches a commit. When all have reached one, or have ended, the chain is compared and the waiting commits resume.
 *
 * @throws the first error, after all have ended
 */
export async function shareComparisons(all: readonly Committing[], compare: () => Promise<void>): Promise<void> {
  let isOpen = true;
  let running = 0;
  let waiting: readonly Waiting[] = [];
  const compareIfAllWait = (): void => {
    if (isOpen || waiting.length === 0 || waiting.length < running) return;
    const ready = waiting;
    waiting = [];
    compare().then(
      () => {
        for (const { resume } of ready) resume();
      },
      (error: unknown) => {
        for (const { fail } of ready) fail(error);
      },
    );
  };
  const ends: Promise<void>[] = [];
  for (const committing of all) {
    running++;
    const isFailed = await new Promise<boolean>((next) => {
      const compared = (): Promise<void> =>
        new Promise((resume, fail) => {
          waiting = [...waiting, { resume, fail }];
          next(false);
          compareIfAllWait();
        });
      const end = committing(compared).finally(() => {
        running--;
        compareIfAllWait();
      });
      ends.push(end);
      end.then(
        () => next(false),
        () => next(true),
      );
    });
    if (isFailed) break;
  }
  isOpen = false;
  compareIfAllWait();
  for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
}
