import type { Effects } from '../core/effects.ts';
import { DeliveryError, formatError } from '../core/errors.ts';
import { closeAll } from '../files/file-failure.ts';
import { type Lock, takeLock } from '../files/writer-lock.ts';
import { retry } from '../http/retry.ts';
import type { Send, Sender } from '../jobs/delivery-target.ts';
import type { CommitStep, Store } from '../warehouse/index.ts';
import type { Feed } from './feed.ts';
import type { FeedView } from './read-rows.ts';

/** A delivery fails. Sent when that begins, and every five minutes while it lasts. */
export interface DeliveryFailedEvent {
  readonly event: 'delivery-failed';
  /** The feed: `on-commit example.org`. */
  readonly to: string;
  readonly message: string;
}

/** A target accepts deliveries again. */
export interface DeliveryResumedEvent {
  readonly event: 'delivery-resumed';
  readonly to: string;
  /** Duration of the failure. */
  readonly seconds: number;
}

/** A feed starts anew because its tables are of another pipeline than before: what was pending for it is not sent. */
export interface DeliveryRestartedEvent {
  readonly event: 'delivery-restarted';
  readonly to: string;
}

export type DeliveryEvent = DeliveryFailedEvent | DeliveryResumedEvent | DeliveryRestartedEvent;

export interface DeliveriesOptions {
  readonly effects: Effects;
  readonly send: Send;
  /** Command of this process, for the error of a process that wants the same lock. */
  readonly command: string;
  readonly onEvent: (event: DeliveryEvent) => void;
  /** At the end, true delivers everything that is pending, with three attempts each. Default: waits five seconds for targets. */
  readonly isPatient?: (() => boolean) | undefined;
}

const REPORT_MS = 300_000;
/** Time that `end` waits for targets. */
const END_MS = 5_000;
/** Attempts for each body at a patient end; they take about three seconds. */
const LAST_ATTEMPTS = 3;

interface State {
  work: Promise<void> | undefined;
  /** True if there are commits since the last read. */
  isStale: boolean;
  failedAt: number | undefined;
  reportedAt: number;
}

/**
 * Delivers feeds of a warehouse that is open for writing. Commits do not wait for targets; the next process delivers what is pending at the
 * end.
 */
export class Deliveries implements CommitStep {
  readonly #options: DeliveriesOptions;
  readonly #states: ReadonlyMap<Feed, State>;
  readonly #ending = new AbortController();
  readonly #stop = new AbortController();
  readonly #locks: Lock[] = [];
  #view: FeedView | undefined;
  /** The failure of a patient end. */
  #endFailure: unknown;

  constructor(feeds: readonly Feed[], options: DeliveriesOptions) {
    this.#options = options;
    const fresh = (): State => ({ work: undefined, isStale: false, failedAt: undefined, reportedAt: 0 });
    this.#states = new Map(feeds.map((feed) => [feed, fresh()]));
  }

  /**
   * Stores the start of new feeds, and delivers what an earlier process left.
   * @throws {StoreError} `busy` if another process sends one of them @throws {UsageError} `foreign-cursor`
   */
  async begin(store: Store, network: string): Promise<void> {
    const { effects, command, onEvent } = this.#options;
    for (const feed of this.#states.keys()) {
      const path = await feed.lockPath();
      this.#locks.push(await takeLock({ path, subject: feed.name, doing: 'is sent already', command, effects }));
    }
    const view = viewOf(store, network);
    for (const feed of this.#states.keys()) {
      if (await feed.begin(view)) onEvent({ event: 'delivery-restarted', to: feed.name });
    }
    this.committed(store, network);
  }

  /** Starts to deliver new commits, without waiting for them. */
  committed(store: Store, network: string): void {
    this.#view ??= viewOf(store, network);
    const view = this.#view;
    for (const [feed, state] of this.#states) {
      state.isStale = true;
      state.work ??= this.#run(feed, state, view).finally(() => {
        state.work = undefined;
      });
    }
  }

  /** Delivers what is pending. */
  async end(): Promise<void> {
    this.#ending.abort();
    if (this.#view === undefined || this.#options.isPatient?.() !== true) await this.#endWithin(END_MS);
    else await this.#sendLast(this.#view);
    await closeAll(this.#locks.splice(0).map((lock) => () => lock.release()));
  }

  /** @throws {DeliveryError} if a patient end could not deliver everything: the next command does */
  requireDelivered(): void {
    if (this.#endFailure !== undefined) throw withHint(this.#endFailure);
  }

  async #endWithin(ms: number): Promise<void> {
    const over = new AbortController();
    const limit = this.#options.effects.sleep(ms, over.signal).then(
      () => this.#stop.abort(),
      () => undefined,
    );
    await this.#idle();
    over.abort();
    await limit;
  }

  async #sendLast(view: FeedView): Promise<void> {
    await this.#idle();
    const { effects, send } = this.#options;
    const { signal } = this.#stop;
    const sender: Sender = (target, body) =>
      retry(() => send(target, body, signal), { effects, signal, attempts: LAST_ATTEMPTS, waitMs: 0 });
    const ends = await Promise.allSettled([...this.#states.keys()].map((feed) => feed.deliver(view, sender)));
    this.#endFailure = ends.find((end) => end.status === 'rejected')?.reason;
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#states.values()].map(({ work }) => work));
  }

  async #run(feed: Feed, state: State, view: FeedView): Promise<void> {
    const { effects, send } = this.#options;
    const { signal } = this.#stop;
    const sender: Sender = async (target, body) => {
      await retry(() => send(target, body, signal), {
        effects,
        signal,
        ending: this.#ending.signal,
        attempts: Number.POSITIVE_INFINITY,
        waitMs: 0,
        onRetry: ({ error }) => this.#failed(feed, state, error),
      });
      this.#delivered(feed, state);
    };
    try {
      while (state.isStale && !this.#stop.signal.aborted) {
        state.isStale = false;
        await feed.deliver(view, sender);
        this.#delivered(feed, state);
      }
    } catch (error) {
      // The next commit tries again.
      if (!this.#ending.signal.aborted) this.#failed(feed, state, error);
    }
  }

  #failed({ name }: Feed, state: State, error: unknown): void {
    const { effects, onEvent } = this.#options;
    const now = effects.monotonic();
    if (state.failedAt !== undefined && now - state.reportedAt < REPORT_MS) return;
    state.failedAt ??= now;
    state.reportedAt = now;
    onEvent({ event: 'delivery-failed', to: name, message: formatError(error) });
  }

  #delivered({ name }: Feed, state: State): void {
    if (state.failedAt === undefined) return;
    const { effects, onEvent } = this.#options;
    const seconds = Math.round(effects.monotonic() - state.failedAt) / 1000;
    state.failedAt = undefined;
    onEvent({ event: 'delivery-resumed', to: name, seconds });
  }
}

function withHint(error: unknown): unknown {
  if (!(error instanceof DeliveryError)) return error;
  const { message, retryable } = error;
  const hint = 'rows are committed; the next command with the same target sends what is left';
  return new DeliveryError(message, { retryable, hint, cause: error });
}

function viewOf(store: Store, network: string): FeedView {
  return {
    network,
    query: store.query,
    log: (after: number, most?: number) => store.log(after, most),
    ledger: async () => store.ledger(),
    select: store.rows.select,
  };
}
