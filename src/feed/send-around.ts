import type { Effects } from '../core/effects.ts';
import { DeliveryError } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { takeAll } from '../files/file-failure.ts';
import { lockFeeds } from './deliveries.ts';
import { openSender, type Send } from './delivery-target.ts';
import type { Feed } from './feed.ts';
import { ReaderSource, unless } from './reader-source.ts';

export interface SendAroundOptions {
  readonly warehouse: string;
  readonly registry: Registry;
  readonly effects: Effects;
  readonly send: Send;
  /** The command of this process, for others that want to send the same. */
  readonly command: string;
}

/** Attempts for each body, within about three seconds. */
const ATTEMPTS = 3;

/**
 * Does work that commits, and then sends feeds, also if the work fails.
 *
 * @param work true if what it committed should be sent now; otherwise the next command does
 * @throws what `work` throws; {DeliveryError} `not-taken`: the next command sends it
 */
export async function sendAround(
  feeds: readonly Feed[],
  options: SendAroundOptions,
  work: () => Promise<boolean>,
): Promise<void> {
  const { warehouse, registry, effects, send } = options;
  const source = new ReaderSource(warehouse, registry);
  const locks = await lockFeeds(feeds, options);
  const onTaken = (): void => undefined;
  const never = new AbortController().signal;
  const sender = openSender({
    ...{ effects, send, ending: never, stop: never, attempts: ATTEMPTS, onFailure: onTaken, onTaken },
  });
  const deliver = async (): Promise<void> => {
    const ends = await Promise.allSettled(
      feeds.map((feed) => unless('no-warehouse', () => feed.deliver(source, sender))),
    );
    for (const end of ends) if (end.status === 'rejected') throw withHint(end.reason);
  };
  let isToSend = true;
  try {
    const begun = await unless('no-warehouse', () =>
      source.use(async (view) => {
        for (const feed of feeds) await feed.begin(view);
        return true;
      }),
    );
    if (begun === undefined) for (const feed of feeds) await feed.begin(undefined);
    await source.close();
    await takeAll([
      async () => {
        isToSend = await work();
      },
      () => (isToSend ? deliver() : undefined),
    ]);
  } finally {
    await takeAll([() => source.close(), ...locks.map((lock) => () => lock.release())]);
  }
}

function withHint(error: unknown): unknown {
  if (!(error instanceof DeliveryError)) return error;
  const { message, code, retryable } = error;
  const hint = 'rows are committed; the next command with the same target sends what is left';
  return new DeliveryError(message, { code, retryable, hint, cause: error });
}
