import PQueue from 'p-queue';
import { guarded, takeAll } from '../../files/file-failure.ts';
import type { Instance } from '../../sql/instance.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { SHOWN_PAUSE, type StoreOptions, stepOf } from '../store-options.ts';
import { Catalog } from './catalog.ts';

/** Maximum pause between two catalogs, also if the clock jumped while one was written. */
const MAX_CATALOG_PAUSE_MS = 60_000;

/** Writes the catalog some time after commits, beside later ones. */
export class CatalogWriter {
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #catalog: Catalog;
  readonly #queue = new PQueue({ concurrency: 1 });
  /** Ends the pause. */
  #hurry = new AbortController();
  /** When the last one was written, or the warehouse opened; and how long the last one took. */
  #writtenAt = 0;
  #tookMs = 0;
  #isStale = true;
  #isWaiting = false;

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
    const { effects, catalogMs = 3000 } = this.#options;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const work = async () => {
      const pauseMs = Math.max(catalogMs, Math.min(MAX_CATALOG_PAUSE_MS, SHOWN_PAUSE * this.#tookMs));
      const waitMs = Math.max(0, this.#writtenAt + pauseMs - effects.monotonic());
      if (waitMs > 0) await effects.sleep(waitMs, this.#hurry.signal, { ref: false });
      this.#isWaiting = false;
      await this.#write();
    };
    // If this fails, `close` tries again and reports the error.
    this.#queue.add(work).catch(() => {});
  }

  /** Replaces the catalog unless it shows what is committed, before files that it names move. If that fails, `close` tries again. */
  async writeNow(): Promise<void> {
    this.#hurry.abort();
    this.#hurry = new AbortController();
    await this.#queue.add(() => this.#isStale && this.#write()).catch(() => {});
  }

  async close(): Promise<void> {
    this.#hurry.abort();
    await takeAll([
      () => this.#queue.onIdle(),
      () => this.#isStale && guarded(`warehouse ${this.#path}`, () => this.#write()),
    ]);
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
