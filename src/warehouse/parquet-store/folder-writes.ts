import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import { failedWith } from '../../core/failed-with.ts';
import { clearFolder, ifAny, listFolder, makeFolder, syncPath } from '../../files/disk.ts';
import { closeAll } from '../../files/file-failure.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { Instance } from '../../sql/instance.ts';
import type { Reads, Writes } from '../backend.ts';
import { clearFiles, isNeeded } from '../garbage/collect-garbage.ts';
import { DataFolders } from '../garbage/data-folders.ts';
import { publishedNumbers } from '../garbage/published-entries.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { writerSettings } from '../reader-settings.ts';
import type { StagedFile, StagedSpan } from '../store.ts';
import { GRACE_MS, type StoreOptions, stepOf } from '../store-options.ts';
import { CatalogWriter } from './catalog-writer.ts';
import { pathsIn } from './entry-files.ts';
import { retireFile } from './pinned-files.ts';

/** Number of commits between two removals of superseded entries from memory. */
const PRUNE_EVERY = 100;
/** How long superseded entries stay in memory: longer than the time between two catalog updates, which need them to find changed tables. */
const RETAIN_MS = 600_000;

/** The update of the catalog, which runs beside later commits. */
export type CatalogWork = Pick<CatalogWriter, 'open' | 'schedule' | 'current' | 'close'>;

/** The writer of a folder, which holds its lock. */
export class FolderWrites implements Writes {
  readonly stagingPath: string;
  readonly instance: Instance;
  readonly pathOf: Writes['pathOf'];
  readonly #path: string;
  readonly #options: StoreOptions;
  readonly #ledger: LedgerFolder;
  readonly #catalog: CatalogWork;
  readonly #folders: DataFolders;
  /** True while there may be names that are not synced: during a commit, and after one that failed. */
  #isUnsynced = false;
  /** True if a commit of this writer has failed with files in place. */
  #hasFailed = false;
  readonly #moves = new PQueue({ concurrency: 1 });
  /** Resolves when no superseded file is left in `tables/`. */
  #retired: Promise<void> = Promise.resolve();

  /** @param path absolute @param catalog default: a {@link CatalogWriter} */
  constructor(path: string, ledger: LedgerFolder, options: StoreOptions, catalog?: CatalogWork) {
    this.stagingPath = layoutOf(path).stage;
    // Stages, queries and the catalog share it.
    this.instance = new Instance(writerSettings(this.stagingPath, 'writer', { threads: 2 }));
    this.pathOf = pathsIn(path);
    this.#path = path;
    this.#options = options;
    this.#ledger = ledger;
    this.#catalog = catalog ?? new CatalogWriter(path, ledger, this.instance, options);
    this.#folders = new DataFolders(path);
  }

  openReads(beside?: string): Reads {
    if (beside === undefined) return { instance: this.instance, close: async () => {} };
    const instance = new Instance(writerSettings(this.stagingPath, beside, { threads: 1 }));
    return { instance, close: () => instance.close() };
  }

  readBy<T>(query: () => Promise<T>): Promise<T> {
    return query();
  }

  async open(_isNew: boolean, refresh: () => Promise<void>): Promise<void> {
    await clearFolder(this.stagingPath);
    const hasRecord = await this.#folders.take();
    await this.#catalog.open();
    if (!hasRecord) await this.#syncNames();
    await this.clear(refresh);
  }

  /**
   * Syncs names that a killed writer, or a failed commit, may not have synced. Otherwise a loss of power could remove an entry after the files
   * it superseded were collected, or a folder after others have committed files in it.
   */
  async #syncNames(): Promise<void> {
    const { ledger, tables, pinned } = layoutOf(this.#path);
    const below = [tables, pinned].map(async (folder) => (await listFolder(folder)).map((name) => join(folder, name)));
    const folders = [this.#path, ledger, tables, pinned, ...(await Promise.all(below)).flat()];
    await Promise.all(folders.map((folder) => ifAny(syncPath(folder))));
    // The parent folder can belong to another user.
    await syncPath(dirname(this.#path)).catch((error) => {
      if (!failedWith(error, 'EACCES')) throw error;
    });
  }

  /** Before anything is built on the names of a commit that has failed. */
  async #syncFailed(): Promise<void> {
    if (!this.#isUnsynced) return;
    this.#hasFailed = true;
    await this.#syncNames();
    this.#isUnsynced = false;
  }

  /** Never runs beside moves of superseded files, which remove empty folders. */
  place(files: readonly StagedFile[]): Promise<void> {
    return this.#moves.add(() => this.#place(files));
  }

  async #place(files: readonly StagedFile[]): Promise<void> {
    const step = stepOf(this.#options);
    await this.#syncFailed();
    this.#isUnsynced = true;
    const folders = new Set<string>();
    for (const { path, stagedPath } of files) {
      await step('move file');
      const to = join(this.#path, path);
      await makeFolder(dirname(to));
      await rename(stagedPath, to);
      folders.add(dirname(to));
      this.#folders.note(path);
    }
    await step('sync folders');
    for (const folder of folders) await syncPath(folder);
  }

  async settle(_staged: readonly StagedSpan[], superseded: readonly string[]): Promise<void> {
    this.#catalog.schedule();
    this.#isUnsynced = false;
    // If this fails, the next `clear`, or the next writer, moves the files.
    if (superseded.length > 0) {
      const before = this.#retired;
      this.#retired = this.#retire(superseded).then(
        () => before,
        () => before,
      );
    }
    if (this.#ledger.entries.lastNumber % PRUNE_EVERY === 0) await this.#prune();
  }

  /** Moves superseded files once the catalog no longer names them. */
  async #retire(superseded: readonly string[]): Promise<void> {
    await this.#catalog.current();
    await this.#moves.add(async () => {
      await stepOf(this.#options)('retire files');
      for (const path of superseded) {
        this.#folders.note(path);
        await retireFile(this.#path, path);
      }
    });
  }

  async clear(refresh: () => Promise<void>): Promise<number> {
    await this.#retired;
    await this.#syncFailed();
    const { effects, graceMs = GRACE_MS } = this.#options;
    const grace = { now: effects.now(), ms: graceMs };
    return clearFiles(this.#path, this.#ledger, this.#folders, grace, () => this.#catalog.current(), refresh);
  }

  async close(): Promise<void> {
    await closeAll([
      () => this.#catalog.close(),
      () => this.#retired,
      () => this.instance.close(),
      () => clearFolder(this.stagingPath),
      () => this.#ledger.stamp().catch(() => {}),
      // The next writer lists the folders again.
      () => this.#hasFailed || this.#isUnsynced || this.#folders.write().catch(() => {}),
    ]);
  }

  /** Removes superseded entries from memory, and later the names of their files, when these are gone. Published ones stay. */
  async #prune(): Promise<void> {
    const { effects, graceMs = GRACE_MS } = this.#options;
    const published = await publishedNumbers(diskObjects(this.#path)).catch(() => undefined);
    if (published === undefined || !this.#ledger.entries.hasAllOf(published)) return;
    this.#ledger.entries.retainFor(published);
    const now = effects.now();
    const grace = { now, ms: 2 * graceMs };
    this.#ledger.entries.pruneBefore(
      now - Math.min(RETAIN_MS, grace.ms),
      (superseded) => !isNeeded(this.#ledger, superseded, grace, published),
    );
  }
}
