import type { Store } from './store.ts';

/** Work that follows commits: merging, marts, publishing, deliveries. Later commits do not wait for it. */
export interface CommitStep {
  /** Called before the first commit. @throws an error that stops the command */
  begin?(store: Store, network: string): Promise<void>;
  /** Called after each commit. Returns at once. */
  committed(store: Store, network: string): void;
  /** Called periodically, also without commits. Returns at once. */
  look?(store: Store): void;
  /** Called before the warehouse is closed, even if `begin` failed. */
  end(): Promise<void>;
}
