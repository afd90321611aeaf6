import { guarded, takeAll } from '../../files/file-failure.ts';
import type { Instance } from '../../sql/instance.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { SHOWN_PAUSE, type StoreOptions, stepOf } from '../store-options.ts';
import { Catalog } from './catalog.ts';

/** Minimum pause before a catalog that files wait for, as a multiple of the time that the last one took. */
const AWAITED_PAUSE = 4;
/** Maximum pauses, also if the clock jumped while a catalog was written. */
const MAX_CATALOG_PAUSE_MS = 60_000;
const MAX_AWAITED_PAUSE_MS = 1000;

/** Writes the catalog some time after commits, beside later ones. */
export class CatalogWriter {
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #catalog: Catalog;
  /** The catalog that waits, or is being written. */
  #next: Promise<void> | undefined;
  /** Ends a pause, after which the next one may be shorter. */
  #wake = new AbortController();
  /** True if files wait for the next catalog. */
  #isAwaited = false;
  #isClosing = false;
  /** When the last one was written, or the warehouse opened; and how long the last one took. */
  #writtenAt = 0;
  #tookMs = 0;
  #isStale = true;

  constructor(path: string, ledger: LedgerFolder, instance: Instance, options: StoreOptions) {
    this.#path = path;
    this.#options = options;
    this.#catalog = new Catalog(path, ledger, instance, options);
  }

  /** Finds out if the catalog shows what is committed. If not, the next commit or `close` replaces it. */
  async open(): Promise<void> {
    this.#writtenAt = this.#options.effects.monotonic();
    this.#isStale = !(await this.#catalog.isCurrent());
  }

  /** After a commit. At most one rebuild waits; it will include all commits until it starts. `close` writes what is still due. */
  schedule(): void {
    this.#isStale = true;
    const written = this.#writeNext().then(() => {
      // There were commits while it was written.
      if (this.#isStale && !this.#isClosing) this.schedule();
    });
    // If this fails, `close` tries again and reports the error.
    written.catch(() => {});
  }

  /**
   * Resolves as soon as the catalog shows what is committed now, before files that it named move. Several commits share one. If it cannot be
   * written, `close` tries again.
   */
  async current(): Promise<void> {
    // One may have begun before the last commit; there may be others since, which need not be waited for.
    for (let turn = 0; turn < 2 && this.#isStale; turn++) {
      this.#isAwaited = true;
      this.#hurry();
      const isWritten = await this.#writeNext().then(
        () => true,
        () => false,
      );
      if (!isWritten) return;
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#hurry();
    await takeAll([
      () => this.#next?.catch(() => {}),
      () => this.#isStale && guarded(`warehouse ${this.#path}`, () => this.#writeNext()),
    ]);
  }

  #hurry(): void {
    const wake = this.#wake;
    this.#wake = new AbortController();
    wake.abort();
  }

  #writeNext(): Promise<void> {
    this.#next ??= this.#writeDue().finally(() => {
      this.#next = undefined;
    });
    return this.#next;
  }

  async #writeDue(): Promise<void> {
    const { effects } = this.#options;
    for (let isOver = false; !isOver; ) {
      const waitMs = this.#writtenAt + this.#pauseMs() - effects.monotonic();
      isOver =
        waitMs <= 0 ||
        (await effects.sleep(waitMs, this.#wake.signal, { ref: false }).then(
          () => true,
          () => false,
        ));
    }
    this.#isAwaited = false;
    await this.#write();
  }

  #pauseMs(): number {
    const { catalogMs = 3000 } = this.#options;
    if (this.#isClosing) return 0;
    if (this.#isAwaited) return Math.min(MAX_AWAITED_PAUSE_MS, AWAITED_PAUSE * this.#tookMs);
    return Math.max(catalogMs, Math.min(MAX_CATALOG_PAUSE_MS, SHOWN_PAUSE * this.#tookMs));
  }

  async #write(): Promise<void> {
    const { effects } = this.#options;
    const startedAt = effects.monotonic();
    this.#isStale = false;
    try {
      await stepOf(this.#options)('write catalog');
      await this.#catalog.write();
    } catch (error) {
      this.#isStale = true;
      throw error;
    } finally {
      this.#writtenAt = effects.monotonic();
      this.#tookMs = this.#writtenAt - startedAt;
    }
  }
}
