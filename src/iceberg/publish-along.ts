import { realEffects } from '../core/effects.ts';
import { formatError, StoreError } from '../core/errors.ts';
import { openDataFiles, type Store } from '../warehouse/index.ts';
import { type PublishOptions, type PublishReport, publishWarehouse } from './publish-warehouse.ts';

export interface PublishAlongOptions extends Omit<PublishOptions, 'accept'> {
  /** Minimum pause between two publications, in milliseconds. Default a minute. */
  readonly everyMs?: number | undefined;
}

/** Pause between two publications, as a multiple of the time that the last one took. */
const PAUSE = 20;

/** Publishes while rows are committed: at most once a minute, less often the longer it takes, and once more at the end. */
export class PublishAlong {
  readonly #options: PublishAlongOptions;
  #running: Promise<void> | undefined;
  #nextAt: number;
  /** What failed last, until a publication succeeds. */
  #failure: string | undefined;

  private constructor(options: PublishAlongOptions) {
    this.#options = options;
    this.#nextAt = this.#now() + this.#everyMs;
  }

  /** @throws {StoreError} `no-files` for a DuckDB warehouse, before anything is exported to it */
  static async open(options: PublishAlongOptions & { readonly store?: Store['kind'] | undefined }) {
    await openDataFiles(options.warehouse, options.store).catch((error: unknown) => {
      // The command is going to make it.
      if (!(error instanceof StoreError) || error.code !== 'no-warehouse') throw error;
    });
    return new PublishAlong(options);
  }

  /**
   * Rows were committed. Publishes them unless a pause is not over; what cannot be published then is tried again later.
   *
   * @param onFailure called with the message of a failure that is not that of the attempt before
   */
  committed(onFailure: (message: string) => void = () => {}): void {
    if (this.#running !== undefined || this.#now() < this.#nextAt) return;
    this.#running = this.#publish().then(
      () => {
        this.#failure = undefined;
      },
      (error: unknown) => {
        const message = formatError(error);
        if (message !== this.#failure && !hasNoRows(error)) onFailure(message);
        this.#failure = message;
      },
    );
  }

  /**
   * Publishes what was committed since the last time.
   * @returns undefined for an empty warehouse
   * @throws {StoreError} as `publishWarehouse`
   */
  async finish(): Promise<PublishReport | undefined> {
    await this.#running;
    try {
      return await this.#publish();
    } catch (error) {
      if (hasNoRows(error)) return undefined;
      throw error;
    }
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
