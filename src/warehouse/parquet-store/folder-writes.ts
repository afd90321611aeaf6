import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import { failedWith } from '../../core/failed-with.ts';
import { clearFolder, ifAny, listFolder, makeFolder, syncPath } from '../../files/disk.ts';
import { takeAll } from '../../files/file-failure.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { Instance } from '../../sql/instance.ts';
import type { Reads, Writes } from '../backend.ts';
import { clearFiles, isCleared, isNeeded } from '../garbage/collect-garbage.ts';
import { publishedNumbers } from '../garbage/published-entries.ts';
import { SettledFolders } from '../garbage/settled-folders.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { writerSettings } from '../reader-settings.ts';
import type { StagedFile, StagedSpan } from '../store.ts';
import { GRACE_MS, type StoreOptions, stepOf } from '../store-options.ts';
import { CatalogWriter } from './catalog-writer.ts';
import { pathsIn } from './entry-files.ts';
import { retireFile } from './pinned-files.ts';

/** Number of commits after which old entries leave the memory. */
const PRUNE_EVERY = 100;
/** How long superseded entries stay in memory: longer than the time between two catalogs, so that these see which tables have changed. */
const KEPT_MS = 600_000;

/** What follows commits, beside later ones. */
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
  readonly #folders: SettledFolders;
  /** True if the next writer will have nothing to clear; and whether it was so before the commit that runs. */
  #isSettled = false;
  #wasSettled = false;
  readonly #moves = new PQueue({ concurrency: 1 });
  /** Done when no superseded file is left in its place. */
  #retired: Promise<void> = Promise.resolve();

  /** @param path absolute @param catalog default: the catalog for other programs */
  constructor(path: string, ledger: LedgerFolder, options: StoreOptions, catalog?: CatalogWork) {
    this.stagingPath = layoutOf(path).stage;
    // Stages, queries and the catalog share it.
    this.instance = new Instance(writerSettings(this.stagingPath, 'writer', { threads: 2, memoryMb: 384 }));
    this.pathOf = pathsIn(path);
    this.#path = path;
    this.#options = options;
    this.#ledger = ledger;
    this.#catalog = catalog ?? new CatalogWriter(path, ledger, this.instance, options);
    this.#folders = new SettledFolders(path);
  }

  openReads(beside?: string): Reads {
    if (beside === undefined) return { instance: this.instance, close: async () => {} };
    const instance = new Instance(writerSettings(this.stagingPath, beside, { threads: 1 }));
    return { instance, close: () => instance.close() };
  }

  readBy<T>(query: () => Promise<T>): Promise<T> {
    return query();
  }

  async open(): Promise<void> {
    await clearFolder(this.stagingPath);
    const isSettled = await this.#folders.take();
    await this.#catalog.open();
    if (isSettled) {
      this.#isSettled = true;
    } else {
      await this.#syncNames();
      await this.clear();
    }
  }

  /**
   * A writer that was killed may have made names that a loss of power would take back: an entry, while what it superseded is collected, or a
   * folder, while the commits of others are in it.
   */
  async #syncNames(): Promise<void> {
    const { ledger, tables, pinned } = layoutOf(this.#path);
    const below = [tables, pinned].map(async (folder) => (await listFolder(folder)).map((name) => join(folder, name)));
    const folders = [this.#path, ledger, tables, pinned, ...(await Promise.all(below)).flat()];
    await Promise.all(folders.map((folder) => ifAny(syncPath(folder))));
    // Which may be of another user.
    await syncPath(dirname(this.#path)).catch((error) => {
      if (!failedWith(error, 'EACCES')) throw error;
    });
  }

  /** Moves of superseded files wait, which may remove a folder that is empty. */
  place(files: readonly StagedFile[]): Promise<void> {
    return this.#moves.add(() => this.#place(files));
  }

  async #place(files: readonly StagedFile[]): Promise<void> {
    const step = stepOf(this.#options);
    this.#wasSettled = this.#isSettled;
    // If the commit fails, files without an entry may be left.
    this.#isSettled = false;
    const folders = new Set<string>();
    for (const { path, stagedPath } of files) {
      await step('move file');
      const to = join(this.#path, path);
      await makeFolder(dirname(to));
      await rename(stagedPath, to);
      folders.add(dirname(to));
      this.#folders.add(dirname(path));
    }
    await step('sync folders');
    for (const folder of folders) await syncPath(folder);
  }

  async settle(_staged: readonly StagedSpan[], left: readonly string[]): Promise<void> {
    this.#catalog.schedule();
    this.#isSettled = this.#wasSettled && left.length === 0;
    // What stays in its place is moved by the next writer, or by the next one that clears.
    if (left.length > 0) {
      const before = this.#retired;
      this.#retired = this.#retire(left).then(
        () => before,
        () => before,
      );
    }
    if (this.#ledger.entries.lastNumber % PRUNE_EVERY === 0) await this.#prune();
  }

  /** Moves superseded files, as soon as the catalog does not name them. */
  async #retire(left: readonly string[]): Promise<void> {
    await this.#catalog.current();
    await this.#moves.add(async () => {
      await stepOf(this.#options)('retire files');
      for (const path of left) await retireFile(this.#path, path);
    });
  }

  async clear(): Promise<number> {
    await this.#retired;
    const { effects, graceMs = GRACE_MS } = this.#options;
    const grace = { now: effects.now(), ms: graceMs };
    this.#folders.noteMarks();
    this.#isSettled = false;
    const count = await clearFiles(this.#path, this.#ledger, grace, () => this.#catalog.current());
    this.#isSettled = await isCleared(this.#path, this.#ledger, grace);
    return count;
  }

  async close(): Promise<void> {
    await takeAll([
      () => this.#catalog.close(),
      () => this.#retired,
      () => this.instance.close(),
      () => clearFolder(this.stagingPath),
      () => this.#ledger.stamp().catch(() => {}),
      () => this.#isSettled && this.#folders.put(this.#ledger.entries).catch(() => {}),
    ]);
  }

  /**
   * Removes superseded entries from memory, and then the names of their files, which are gone by then. Published ones stay.
   */
  async #prune(): Promise<void> {
    const { effects, graceMs = GRACE_MS } = this.#options;
    const published = await publishedNumbers(diskObjects(this.#path)).catch(() => undefined);
    if (published === undefined || !this.#ledger.entries.hasAllOf(published)) return;
    this.#ledger.entries.keepFor(published);
    const now = effects.now();
    const grace = { now, ms: 2 * graceMs };
    this.#ledger.entries.pruneBefore(
      now - Math.min(KEPT_MS, grace.ms),
      (superseded) => !isNeeded(this.#ledger, superseded, grace, published),
    );
  }
}
