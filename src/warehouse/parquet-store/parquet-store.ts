import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import { StoreError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import { clearFolder, makeFolder, putIfAbsent, statIfAny, syncPath, writeSynced } from '../../files/disk.ts';
import { guarded, takeAll } from '../../files/file-failure.ts';
import { type Lock, takeLock } from '../../files/writer-lock.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import type { Query } from '../../sql/query-result.ts';
import { clearFiles, isCleared } from '../garbage/collect-garbage.ts';
import { publishedNumbers } from '../garbage/published-entries.ts';
import { SettledFolders } from '../garbage/settled-folders.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { draftEntry, supersedeLast } from '../ledger/draft-entry.ts';
import { badLedger } from '../ledger/entries.ts';
import {
  folderFiles,
  LedgerFolder,
  layoutOf,
  putIdentity,
  readIdentity,
  requireNetwork,
  requireOwnEntries,
} from '../ledger/ledger-folder.ts';
import { LedgerStore } from '../ledger/ledger-store.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { writerSettings } from '../reader-settings.ts';
import { requireDeclared, schemaOf } from '../relations/table-schema.ts';
import { WarehouseViews } from '../relations/warehouse-views.ts';
import { Stager } from '../staging/stager.ts';
import type {
  CommitDraft,
  CommitPart,
  EntryRows,
  FileStage,
  LedgerEntry,
  SideConnection,
  StagedSpan,
  StagerOptions,
  Store,
} from '../store.ts';
import { GRACE_MS, type StoreOptions, warehousePath } from '../store-options.ts';
import { Catalog } from './catalog.ts';
import { pathsIn } from './entry-files.ts';
import { entryRows } from './entry-rows.ts';
import { folderBackend } from './folder-backend.ts';
import { pinFile, pinnedPath, retireFile } from './pinned-files.ts';

/** Minimum pause between two catalogs, as a multiple of the time that the last one took: large ones are written less often. */
const CATALOG_PAUSE = 20;
/** Number of commits after which old entries leave the memory. */
const PRUNE_EVERY = 100;
/** How long superseded entries stay in memory: longer than the time between two catalogs, so that these see which tables have changed. */
const KEPT_MS = 600_000;
/** Maximum pause between two catalogs, also if the clock jumped while one was written. */
const MAX_CATALOG_PAUSE_MS = 60_000;

/**
 * Opens a folder of Parquet files for writing, and removes what a killed run left.
 * @throws {StoreError} if another process writes it, it is of another network, it cannot be read or written, or its tables need a
 * migration
 */
export async function openParquetStore(options: StoreOptions): Promise<Store> {
  const path = warehousePath(options.path);
  return guarded(`warehouse ${path}`, () => ParquetStore.open(path, options));
}

class ParquetStore extends LedgerStore implements Store {
  readonly staging: StagerOptions;
  readonly rows: EntryRows;
  readonly #options: StoreOptions;
  readonly #lock: Lock;
  readonly #ledger: LedgerFolder;
  readonly #declarations: DeclarationFolder;
  readonly #stager: Stager;
  readonly #views: WarehouseViews;
  readonly #catalog: Catalog;
  readonly #folders: SettledFolders;
  /** True if the next writer will have nothing to clear. */
  #isSettled = false;
  readonly #commits = new PQueue({ concurrency: 1 });
  readonly #catalogs = new PQueue({ concurrency: 1 });
  readonly #closing = new AbortController();
  /** When the last catalog was written, and how long that took. */
  #catalogAt = Number.NEGATIVE_INFINITY;
  #catalogTookMs = 0;
  #isCatalogStale = true;
  #isCatalogWaiting = false;

  private constructor(path: string, options: StoreOptions, lock: Lock, ledger: LedgerFolder) {
    super(path, ledger);
    this.#options = options;
    this.#lock = lock;
    this.#ledger = ledger;
    this.#declarations = new DeclarationFolder(path);
    this.rows = entryRows(folderBackend(path), ledger);
    this.staging = { form: 'final', stagingPath: layoutOf(path).stage };
    this.#stager = new Stager(this.staging, options.effects.freshId);
    this.#folders = new SettledFolders(path);
    this.#catalog = new Catalog(path, ledger, options.tables);
    this.#views = this.#openViews('query', 2);
  }

  static async open(path: string, options: StoreOptions): Promise<ParquetStore> {
    const { network, effects, tables } = options;
    const layout = layoutOf(path);
    if ((await statIfAny(path))?.isDirectory() === false) {
      throw new StoreError(`store: warehouse ${path} is a file, not a folder`, {
        code: 'wrong-path',
        hint: 'choose another --warehouse, or use the extension .duckdb for a DuckDB warehouse',
      });
    }
    await makeFolder(path);
    const { command = 'tonlake' } = options;
    const lock = await takeLock({ path: layout.lock, subject: `warehouse ${path}`, command, effects });
    try {
      for (const folder of [layout.stage, layout.ledger, layout.tables]) await makeFolder(folder);
      const identity = await readIdentity(path);
      if (identity === undefined) {
        await putIdentity(folderFiles(path), network, effects.now());
      } else {
        requireNetwork(path, identity.network, network);
      }
      const ledger = new LedgerFolder(path);
      requireOwnEntries(path, network, await ledger.refresh());
      ledger.entries.setAside(options.setAside ?? []);
      ledger.requireReadable(tables, path);
      await clearFolder(layout.stage);
      const store = new ParquetStore(path, options, lock, ledger);
      if (await store.#folders.take()) store.#isSettled = true;
      else await store.#clear();
      if (await store.#catalog.isCurrent()) store.#isCatalogStale = false;
      else if (identity !== undefined) await store.#writeCatalog();
      // The first catalog of a warehouse shows its first commits.
      else store.#catalogAt = effects.monotonic();
      return store;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  stage(_pipeline: string, span: Span): FileStage {
    return this.#stager.stage(span);
  }

  scratch(): FileStage {
    return this.#stager.scratch();
  }

  async commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry> {
    const entry = await this.#commits.add(() =>
      guarded(`warehouse ${this.path}`, () => this.#commitNext(staged, draft)),
    );
    this.#scheduleCatalog();
    return entry;
  }

  /** The last entry puts the others in force. */
  async commitTogether(given: readonly CommitPart[]): Promise<readonly LedgerEntry[]> {
    const parts = supersedeLast(given);
    const last = parts.at(-1)?.staged.id;
    const committed = await this.#commits.add(() =>
      guarded(`warehouse ${this.path}`, async () => {
        const done: LedgerEntry[] = [];
        for (const { staged, draft } of parts) {
          done.push(await this.#commitNext(staged, draft, staged.id === last ? undefined : last));
        }
        return done;
      }),
    );
    this.#scheduleCatalog();
    return committed;
  }

  readonly query: Query = (sql, parameters) => this.#views.query(sql, parameters);

  async connect(): Promise<SideConnection> {
    return this.#openViews(this.#options.effects.freshId(), 1);
  }

  #openViews(name: string, threads: number): WarehouseViews {
    const { path, staging } = this;
    return new WarehouseViews({
      ...{ path, ledger: this.#ledger, tables: this.#options.tables, pathOf: pathsIn(path) },
      settings: { ...writerSettings(staging.stagingPath, name, threads), enable_external_file_cache: 'false' },
    });
  }

  async clearSuperseded(): Promise<number> {
    return this.#commits.add(() => this.#clear());
  }

  async #clear(): Promise<number> {
    const { effects, graceMs = GRACE_MS } = this.#options;
    const grace = { now: effects.now(), ms: graceMs };
    this.#isSettled = false;
    const count = await clearFiles(this.path, this.#ledger, grace);
    this.#isSettled = await isCleared(this.path, this.#ledger, grace);
    return count;
  }

  async closeIdle(): Promise<void> {
    this.#catalog.closeIdle();
    await this.#stager.closeIdle();
  }

  async close(): Promise<void> {
    await this.#commits.onIdle();
    this.#closing.abort();
    await takeAll([
      () => this.#catalogs.onIdle(),
      () => this.#isCatalogStale && guarded(`warehouse ${this.path}`, () => this.#writeCatalog()),
      () => this.#stager.close(),
      () => this.#views.close(),
      () => this.#catalog.close(),
      () => clearFolder(this.staging.stagingPath),
      () => this.#ledger.stamp().catch(() => {}),
      () => this.#isSettled && this.#folders.put(this.#ledger.entries).catch(() => {}),
      () => this.#lock.release(),
    ]);
  }

  /** Files first, then the entry that names them: files without an entry do not count. */
  async #commitNext(staged: StagedSpan, draft: CommitDraft, commitWith?: string): Promise<LedgerEntry> {
    const { effects, tables, marts = [], network } = this.#options;
    const step = this.#options.onStep ?? (async () => {});
    const { entries } = this.#ledger;
    const { stagingPath } = this.staging;
    const wasSettled = this.#isSettled;
    // If the commit fails, files without an entry may be left.
    this.#isSettled = false;
    await step('write declaration');
    const declared = this.#options.pipelines?.find(({ name }) => name === draft.pipeline);
    const declaration = declared && (await this.#declarations.put(declared, entries.nextNumber));
    const committedAt = effects.now();
    const entry = draftEntry({ staged, draft, entries, network, commitWith, declaration, committedAt });
    await step('write schemas');
    for (const [name, { schema }] of Object.entries(staged.tables)) {
      await this.#ledger.putSchema(schemaOf(requireDeclared([...tables, ...marts], name, schema, draft.without)));
    }
    await step('stage entry');
    const stagedEntry = join(stagingPath, `entry-${staged.id}.json`);
    await writeSynced(stagedEntry, `${JSON.stringify(entry)}\n`);
    const folders = new Set<string>();
    for (const { files } of Object.values(staged.tables)) {
      for (const file of files) {
        await step('move file');
        const path = join(this.path, file.path);
        await makeFolder(dirname(path));
        await rename(file.stagedPath, path);
        folders.add(dirname(path));
        this.#folders.add(dirname(file.path));
        if (await pinFile(this.path, file.path)) folders.add(dirname(join(this.path, pinnedPath(file.path))));
      }
    }
    await step('sync folders');
    for (const folder of folders) await syncPath(folder);
    await step('put entry');
    if (!(await putIfAbsent(stagedEntry, this.#ledger.entryPath(entry.number)))) {
      throw badLedger(`another process has written entry ${entry.number} of ${this.#ledger.path}`);
    }
    entries.add(entry);
    this.#isCatalogStale = true;
    await step('sync ledger');
    await syncPath(this.#ledger.path);
    await step('retire files');
    const superseded = new Set(entry.supersedes);
    const retired = superseded.size === 0 ? [] : entries.all.filter(({ id }) => superseded.has(id));
    const left = retired.flatMap(filesOf);
    for (const path of left) await retireFile(this.path, path);
    this.#isSettled = wasSettled && left.length === 0;
    await step('clear stage');
    await rm(join(stagingPath, staged.id), { recursive: true, force: true });
    if (commitWith === undefined && this.#ledger.isCheckpointDue) {
      await step('write checkpoint');
      // The commit is done: a checkpoint that cannot be written is tried again after the next one.
      await this.#ledger.writeCheckpoint(stagingPath).catch(() => {});
    }
    if (commitWith === undefined && entry.number % PRUNE_EVERY === 0) await this.#prune();
    return entry;
  }

  /**
   * Removes superseded entries from memory, and then the names of their files, which are gone by then. Published ones stay: otherwise each
   * collection would read the whole ledger.
   */
  async #prune(): Promise<void> {
    const { effects, graceMs = GRACE_MS } = this.#options;
    const published = await publishedNumbers(diskObjects(this.path)).catch(() => undefined);
    if (published?.length !== 0) return;
    const now = effects.now();
    this.#ledger.entries.pruneBefore(now - Math.min(KEPT_MS, 2 * graceMs), now - 2 * graceMs);
  }

  /** At most one rebuild waits; it will include all commits until it starts. */
  #scheduleCatalog(): void {
    const { effects, catalogMs = 3000 } = this.#options;
    if (this.#isCatalogWaiting) return;
    this.#isCatalogWaiting = true;
    const work = async () => {
      const pauseMs = Math.max(catalogMs, Math.min(MAX_CATALOG_PAUSE_MS, CATALOG_PAUSE * this.#catalogTookMs));
      const waitMs = Math.max(0, this.#catalogAt + pauseMs - effects.monotonic());
      if (waitMs > 0) await effects.sleep(waitMs, this.#closing.signal, { ref: false });
      this.#isCatalogWaiting = false;
      await this.#writeCatalog();
    };
    // If this fails, `close` tries again and reports the error.
    this.#catalogs.add(work).catch(() => {});
  }

  async #writeCatalog(): Promise<void> {
    const { effects } = this.#options;
    const startedAt = effects.monotonic();
    this.#isCatalogStale = false;
    try {
      await this.#options.onStep?.('write catalog');
      await this.#catalog.write();
    } catch (error) {
      this.#isCatalogStale = true;
      throw error;
    } finally {
      this.#catalogAt = effects.monotonic();
      this.#catalogTookMs = this.#catalogAt - startedAt;
    }
  }
}
