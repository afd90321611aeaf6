import type { Store } from './store.ts';

/** Work that follows commits: merging, marts, publishing, deliveries. It goes on beside the next commits, and none of them waits for it. */
export interface CommitStep {
  /** Before the first commit. @throws what keeps the command from beginning */
  begin?(store: Store, network: string): Promise<void>;
  /** Something was committed. Returns at once. */
  committed(store: Store, network: string): void;
  /** Time has passed: called now and then, also without commits. Returns at once. */
  look?(store: Store): void;
  /** Before the warehouse is closed, also if it could not begin. */
  end(): Promise<void>;
}
