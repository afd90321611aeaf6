import type { Sender } from './delivery-target.ts';
import type { FeedView } from './read-rows.ts';

/** What is sent of a warehouse to one target: a line for each commit, or alerts. */
export interface Feed {
  /** For messages: `on-commit example.org`. */
  readonly name: string;
  /** Path of the lock for the one process that sends it. */
  lockPath(): Promise<string>;
  /** Notes where to begin, if it never began. @throws {UsageError} `foreign-cursor` */
  begin(view: FeedView): Promise<void>;
  /** Sends what was committed since the last time. @throws {DeliveryError} what was not taken is sent the next time */
  deliver(view: FeedView, sender: Sender): Promise<void>;
}
