import { closeAll, guarded } from '../../files/file-failure.ts';
import type { Instance } from '../../sql/instance.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { CATALOG_PAUSE, type StoreOptions, stepOf } from '../store-options.ts';
import { Catalog } from './catalog.ts';

/** Minimum pause before an update that superseded files wait for, as a multiple of the duration of the last one. */
const AWAITED_PAUSE = 4;
/** Maximum pauses, even if the clock jumped during an update. */
const MAX_CATALOG_PAUSE_MS = 60_000;
const MAX_AWAITED_PAUSE_MS = 1000;

/** Updates the catalog in the background, some time after commits. */
export class CatalogWriter {
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #catalog: Catalog;
  /** The update that is pending or running. */
  #next: Promise<void> | undefined;
  /** Ends the current pause; the next one may be shorter. */
  #wake = new AbortController();
  /** True if superseded files wait for the next update. */
  #isAwaited = false;
  #isClosing = false;
  /** When the last update ended, or the warehouse was opened; and how long the last one took. */
  #writtenAt = 0;
  #tookMs = 0;
  #isStale = true;

  constructor(path: string, ledger: LedgerFolder, instance: Instance, options: StoreOptions) {
    this.#path = path;
    this.#options = options;
    this.#catalog = new Catalog(path, ledger, instance, options);
  }

  /** Checks if the catalog is current. If not, the next commit or `close` replaces it. */
  async open(): Promise<void> {
    this.#writtenAt = this.#options.effects.monotonic();
    this.#isStale = !(await this.#catalog.isCurrent());
  }

  /** Called after a commit. At most one update is pending; it includes all commits until it starts. `close` writes one that is still due. */
  schedule(): void {
    this.#isStale = true;
    const written = this.#writeNext().then(() => {
      // There were commits during the update.
      if (this.#isStale && !this.#isClosing) this.schedule();
    });
    // If this fails, `close` tries again and reports the error.
    written.catch(() => {});
  }

  /**
   * Resolves when the catalog includes all present commits, so that files it named can move. Several commits share one update. If it
   * fails, `close` tries again.
   */
  async current(): Promise<void> {
    // The running update may have begun before the last commit. After the second, later commits need not be included.
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
    await closeAll([
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
    return Math.max(catalogMs, Math.min(MAX_CATALOG_PAUSE_MS, CATALOG_PAUSE * this.#tookMs));
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
