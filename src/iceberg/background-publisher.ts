import { realEffects } from '../core/effects.ts';
import { formatError, StoreError } from '../core/errors.ts';
import { type CommitStep, openDataFiles, type Store } from '../warehouse/index.ts';
import { type PublishOptions, type PublishReport, publishWarehouse } from './publish-warehouse.ts';

export interface BackgroundPublisherOptions extends Omit<PublishOptions, 'accept'> {
  /** Minimum pause between two publications, in milliseconds. Default a minute. */
  readonly everyMs?: number | undefined;
  /** Called with the message of a new failure; the next publication retries. */
  readonly onFailure?: ((message: string) => void) | undefined;
}

interface Published {
  readonly report?: PublishReport;
  readonly error?: unknown;
}

/** Pause between two publications, as a multiple of the time that the last one took. */
const PAUSE = 20;

/** Publishes while rows are committed: at most once a minute, less often if it takes longer, and once more at the end. */
export class BackgroundPublisher implements CommitStep {
  readonly #options: BackgroundPublisherOptions;
  #running: Promise<void> | undefined;
  #nextAt: number;
  /** Message of the last failure, until a publication succeeds. */
  #failure: string | undefined;
  #last: Published | undefined;

  private constructor(options: BackgroundPublisherOptions) {
    this.#options = options;
    this.#nextAt = this.#now() + this.#everyMs;
  }

  /** @throws {StoreError} for a DuckDB warehouse, before anything is exported to it */
  static async open(options: BackgroundPublisherOptions & { readonly store?: Store['kind'] | undefined }) {
    await openDataFiles(options.warehouse, options.store).catch((error: unknown) => {
      // The command will create it.
      if (!(error instanceof StoreError) || error.code !== 'no-warehouse') throw error;
    });
    return new BackgroundPublisher(options);
  }

  /** Starts a publication, unless one is running or the pause is not over. */
  committed(): void {
    if (this.#running !== undefined || this.#now() < this.#nextAt) return;
    this.#running = this.#publish().then(
      () => {
        this.#failure = undefined;
      },
      (error: unknown) => {
        const message = formatError(error);
        if (message !== this.#failure && !hasNoRows(error)) this.#options.onFailure?.(message);
        this.#failure = message;
      },
    );
  }

  /** Publishes the last commits. */
  async end(): Promise<void> {
    await this.#running;
    this.#last = await this.#publish().then(
      (report): Published => ({ report }),
      (error: unknown) => (hasNoRows(error) ? undefined : { error }),
    );
  }

  /** Result of the publication at the end; undefined before it, and for an empty warehouse. */
  get last(): Published | undefined {
    return this.#last;
  }

  async #publish(): Promise<PublishReport> {
    const startedAt = this.#now();
    try {
      return await publishWarehouse(this.#options);
    } finally {
      this.#nextAt = this.#now() + Math.max(this.#everyMs, PAUSE * (this.#now() - startedAt));
      this.#running = undefined;
    }
  }

  get #everyMs(): number {
    return this.#options.everyMs ?? 60_000;
  }

  #now(): number {
    return (this.#options.effects ?? realEffects).monotonic();
  }
}

function hasNoRows(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'no-rows';
}
