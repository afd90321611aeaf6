/** Fetches rows and commits them; awaits `compared` before each commit. */
export type Committing = (compared: () => Promise<void>) => Promise<void>;

/** A commit that waits for the next comparison. */
interface Waiting {
  readonly goOn: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets pipelines share comparisons of the chain: a comparison speaks for all rows that were fetched before it. Each pipeline fetches its rows
 * after the one before has come to a commit. When all have come to one, or have ended, the chain is compared, and those commits go on.
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
        for (const { goOn } of ready) goOn();
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
        new Promise((goOn, fail) => {
          waiting = [...waiting, { goOn, fail }];
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
