import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { startAge } from '../../core/effects.ts';
import { isSealedMeanwhile, StoreError } from '../../core/errors.ts';
import { runLimited } from '../../core/run-limited.ts';
import { coversBlocks } from '../../declare/pipeline.ts';
import { guarded, takeAll } from '../../files/file-failure.ts';
import type { Database } from '../../sql/database.ts';
import { requireHttpfs } from '../../sql/httpfs.ts';
import type { Query } from '../../sql/query-result.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { draftEntry, supersedeLast } from '../ledger/draft-entry.ts';
import {
  entryName,
  LEDGER,
  type LedgerFolder,
  putIdentity,
  readIdentity,
  requireNetwork,
  requireOwnEntries,
} from '../ledger/ledger-folder.ts';
import { LedgerStore } from '../ledger/ledger-store.ts';
import { requireUnrivalled, sealedMeanwhile } from '../ledger/rival-entries.ts';
import { entryRows } from '../parquet-store/entry-rows.ts';
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
  Store,
} from '../store.ts';
import { GRACE_MS, type StoreOptions, warehousePath } from '../store-options.ts';
import { type BucketBackend, bucketBackend } from './bucket-backend.ts';
import { COMMIT_WITHIN_MS, collectGarbage } from './bucket-garbage.ts';
import { BucketScans } from './bucket-scans.ts';
import { EarlyUploads } from './early-uploads.ts';
import { GrowingStage } from './growing-stage.ts';
import { LocalCopies } from './local-copies.ts';
import { NumberRace } from './number-race.ts';
import { openWorkFolder } from './work-folder.ts';

/** Files of a commit that are uploaded concurrently. */
const UPLOADS = 4;

/**
 * Opens a warehouse in an object store for writing. Any number of processes can do so at the same time.
 * @throws {StoreError} if it cannot be written or read again, is of another network, its tables need a migration, or the store ignores conditions
 */
export async function openBucketStore(options: StoreOptions): Promise<Store> {
  const path = warehousePath(options.path);
  return guarded(`warehouse ${path}`, () => BucketStore.open(bucketBackend(path), options));
}

class BucketStore extends LedgerStore implements Store {
  readonly staging: Store['staging'];
  readonly rows: EntryRows;
  readonly rivals = new Set<string>();
  readonly #options: StoreOptions;
  readonly #place: BucketBackend;
  readonly #ledger: LedgerFolder;
  readonly #declarations: DeclarationFolder;
  readonly #work: string;
  readonly #stager: Stager;
  readonly #copies: LocalCopies;
  readonly #uploads: EarlyUploads;
  readonly #scans = new BucketScans();
  readonly #views: WarehouseViews;
  readonly #commits = new PQueue({ concurrency: 1 });

  private constructor(place: BucketBackend, options: StoreOptions, ledger: LedgerFolder, work: string) {
    const { path } = place;
    super(path, ledger);
    this.#place = place;
    this.#options = options;
    this.#ledger = ledger;
    this.#work = work;
    this.#declarations = new DeclarationFolder(path, place.files);
    this.staging = { form: 'final', stagingPath: join(work, 'stage') };
    this.#stager = new Stager(this.staging, options.effects.freshId);
    this.#copies = new LocalCopies(join(work, 'copies'));
    this.#uploads = new EarlyUploads(place.objects, options.effects);
    this.rows = entryRows(place, ledger, { pathOf: this.#pathOf });
    this.#views = this.#openViews('query', 2, this.#scans);
  }

  readonly #pathOf = (file: string): string => this.#copies.pathOf(file) ?? `${this.path}/${file}`;

  #openViews(name: string, threads: number, scans: BucketScans): WarehouseViews {
    const { path } = this;
    const ledger = this.#ledger;
    const access = this.#place.access();
    return new WarehouseViews({
      ...{ path, ledger, tables: this.#options.tables, pathOf: this.#pathOf },
      ...{ settings: writerSettings(this.staging.stagingPath, name, threads), scans },
      // A run that reads only what it has written itself needs no extension.
      prepare: async (database: Database) => {
        if (ledger.entries.effective.some((entry) => this.#isElsewhere(entry))) await access(database);
      },
    });
  }

  static async open(place: BucketBackend, options: StoreOptions): Promise<BucketStore> {
    const { network, effects, tables } = options;
    const { path, files } = place;
    await Promise.all([place.requireWritable(effects), requireHttpfs()]);
    const before = await readIdentity(path, files);
    if (before === undefined) await putIdentity(files, network, effects.now());
    // Another process may have been first.
    const identity = before ?? (await readIdentity(path, files));
    requireNetwork(path, identity?.network ?? network, network);
    const ledger = place.ledger();
    requireOwnEntries(path, network, await ledger.refresh());
    ledger.entries.setAside(options.setAside ?? []);
    ledger.requireReadable(tables, path);
    const store = new BucketStore(place, options, ledger, await openWorkFolder());
    try {
      if (ledger.entries.nextNumber > 1) await store.#collect(false);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  stage: Store['stage'] = (_pipeline, span): FileStage =>
    new GrowingStage(this.#stager.stage(span), span, this.#uploads);

  scratch(): FileStage {
    return this.#stager.scratch();
  }

  commit(staged: StagedSpan, draft: CommitDraft): Promise<LedgerEntry> {
    return this.#commits.add(() =>
      guarded(`warehouse ${this.path}`, async () => {
        const attempt = this.#attempt();
        return this.#orDrop([staged], async () => {
          await this.#prepare(staged, draft);
          const entry = await this.#putEntry(staged, draft, { ...attempt, mayWait: true });
          await this.#finish(staged);
          await this.#checkpoint();
          return entry;
        });
      }),
    );
  }

  /** The last entry puts the others in force. */
  commitTogether(given: readonly CommitPart[]): Promise<readonly LedgerEntry[]> {
    const parts = supersedeLast(given);
    return this.#commits.add(() =>
      guarded(`warehouse ${this.path}`, async () => {
        const attempt = this.#attempt();
        const staged = parts.map((part) => part.staged);
        return this.#orDrop(staged, async () => {
          for (const { staged, draft } of parts) await this.#prepare(staged, draft);
          let done = await this.#putTogether(parts, attempt);
          // Under ids that are new, so that the entries before it stay incomplete for ever.
          while (done === undefined) done = await this.#putTogether(this.#renamed(parts), attempt);
          return done;
        });
      }),
    );
  }

  /**
   * Puts entries under successive numbers. Another writer's entry between them would let a reader that follows the ledger pass over those
   * before it.
   * @returns undefined if there is one
   */
  async #putTogether(
    parts: readonly CommitPart[],
    attempt: CommitAttempt,
  ): Promise<readonly LedgerEntry[] | undefined> {
    const last = parts.at(-1)?.staged.id;
    const done: LedgerEntry[] = [];
    for (const { staged, draft } of parts) {
      const isFirst = done.length === 0;
      const entry = await this.#putEntry(staged, draft, {
        ...{ ...attempt, mayWait: isFirst },
        commitWith: staged.id === last ? undefined : last,
      });
      if (entry === undefined) return undefined;
      done.push(entry);
    }
    for (const { staged } of parts) await this.#finish(staged);
    return done;
  }

  /** The same with new ids of the entries; those of the files stay. */
  #renamed(parts: readonly CommitPart[]): readonly CommitPart[] {
    const ids = new Map(parts.map(({ staged }) => [staged.id, this.#options.effects.freshId()]));
    const idOf = (id: string): string => ids.get(id) ?? id;
    return parts.map(({ staged, draft }) => ({
      staged: { ...staged, id: idOf(staged.id) },
      draft: { ...draft, supersedes: draft.supersedes.map(idOf) },
    }));
  }

  readonly query: Query = (sql, parameters) => this.#copies.readBy(() => this.#views.query(sql, parameters));

  async connect(): Promise<SideConnection> {
    // Extensions are loaded into one instance of DuckDB.
    const scans = new BucketScans();
    const views = this.#openViews(this.#options.effects.freshId(), 1, scans);
    return {
      query: (sql, parameters) => this.#copies.readBy(() => views.query(sql, parameters)),
      ...{ interrupt: () => views.interrupt() },
      close: () => takeAll([() => views.close(), () => scans.close()]),
    };
  }

  clearSuperseded(): Promise<number> {
    return this.#commits.add(() => guarded(`warehouse ${this.path}`, () => this.#collect(true)));
  }

  #collect(isForced: boolean): Promise<number> {
    const { graceMs = GRACE_MS } = this.#options;
    return collectGarbage(this.#place.objects, this.#ledger, { graceMs, isForced }, () => this.#refresh());
  }

  closeIdle(): Promise<void> {
    return this.#stager.closeIdle();
  }

  async close(): Promise<void> {
    await this.#commits.onIdle();
    await takeAll([
      () => this.#uploads.close(),
      () => this.#stager.close(),
      () => this.#views.close(),
      () => this.#scans.close(),
      () => rm(this.#work, { recursive: true, force: true }),
    ]);
  }

  /** Reads what other writers have committed. */
  async #refresh(): Promise<void> {
    const fresh = await this.#ledger.refresh();
    requireOwnEntries(this.path, this.#options.network, fresh);
    for (const { id } of fresh) this.rivals.add(id);
    if (fresh.length > 0) this.#ledger.requireReadable(this.#options.tables, this.path);
  }

  #isElsewhere({ tables }: LedgerEntry): boolean {
    return Object.values(tables).some(({ files }) => files.some(({ path }) => this.#copies.pathOf(path) === undefined));
  }

  /** Removes what was put and staged if another writer has committed the same rows: no entry names it, and none will. */
  async #orDrop<T>(given: readonly StagedSpan[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isSealedMeanwhile(error)) throw error;
      const files = given.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
      // What is left is collected later.
      await this.#place.objects.remove(files.map(({ path }) => path)).catch(() => {});
      for (const { id } of given) await rm(join(this.staging.stagingPath, id), { recursive: true, force: true });
      throw error;
    }
  }

  /** Puts everything that an entry names: no reader knows of it yet. */
  async #prepare(staged: StagedSpan, draft: CommitDraft): Promise<void> {
    const { tables, marts = [] } = this.#options;
    const step = this.#options.onStep ?? (async () => {});
    await step('write schemas');
    for (const [name, { schema }] of Object.entries(staged.tables)) {
      await this.#ledger.putSchema(schemaOf(requireDeclared([...tables, ...marts], name, schema, draft.without)));
    }
    await step('upload files');
    const files = Object.values(staged.tables).flatMap((table) => table.files);
    await runLimited(
      UPLOADS,
      files.map((file) => async () => {
        await step('upload file');
        await this.#uploads.put(file);
      }),
    );
  }

  /** Puts the entry under the next free number. @returns undefined if that was taken, unless it may wait for another one */
  async #putEntry<Wait extends boolean>(
    staged: StagedSpan,
    draft: CommitDraft,
    { ageMs, race, commitWith, mayWait }: PutOptions<Wait>,
  ): Promise<LedgerEntry | (Wait extends true ? never : undefined)> {
    const { effects, network } = this.#options;
    const { entries } = this.#ledger;
    const declared = this.#options.pipelines?.find(({ name }) => name === draft.pipeline);
    const declaration = declared && (await this.#declarations.put(declared, entries.nextNumber));
    for (;;) {
      const committedAt = effects.now();
      requireYoung(ageMs());
      this.#requireUnrivalled(draft, staged.id);
      const entry = draftEntry({ staged, draft, entries, network, commitWith, declaration, committedAt });
      await this.#options.onStep?.('put entry');
      const text = Buffer.from(`${JSON.stringify(entry)}\n`);
      const other = await this.#place.objects.putOrGet(`${LEDGER}/${entryName(entry.number)}`, text);
      if (other === undefined) {
        entries.add(entry);
        return entry;
      }
      this.#ledger.keepNext(entry.number, Buffer.from(other).toString('utf8'));
      await race.lost();
      await this.#refresh();
      if (!mayWait) return undefined as Wait extends true ? never : undefined;
    }
  }

  #attempt(): CommitAttempt {
    const { effects } = this.#options;
    return { ageMs: startAge(effects), race: new NumberRace(effects) };
  }

  /** Keeps the files of a commit for reading. */
  async #finish(staged: StagedSpan): Promise<void> {
    await this.#copies.take(staged);
    await rm(join(this.staging.stagingPath, staged.id), { recursive: true, force: true });
  }

  /** The commit is done: a checkpoint that cannot be written is tried again after the next one. */
  async #checkpoint(): Promise<void> {
    if (!this.#ledger.isCheckpointDue) return;
    await this.#options.onStep?.('write checkpoint');
    await this.#ledger.writeCheckpoint('').catch(() => {});
  }

  #requireUnrivalled(draft: CommitDraft, id: string): void {
    if (this.rivals.size === 0) return;
    const { entries } = this.#ledger;
    const { pipelines = [] } = this.#options;
    const known = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]));
    requireUnrivalled({
      draft,
      rivals: entries.effective.filter((entry) => this.rivals.has(entry.id)),
      coversBlocks: (name) => {
        const pipeline = known.get(name);
        return pipeline === undefined || coversBlocks(pipeline);
      },
    });
    const isReplaced = draft.supersedes.some(
      (each) => each !== id && this.rivals.has(entries.successorOf(each)?.id ?? ''),
    );
    if (isReplaced) throw sealedMeanwhile(draft.pipeline, spansOf(draft));
  }
}

/** A commit on its way. */
interface CommitAttempt {
  /** Age of the first file that was put. */
  readonly ageMs: () => number;
  readonly race: NumberRace;
}

interface PutOptions<Wait extends boolean> extends CommitAttempt {
  readonly commitWith?: string | undefined;
  readonly mayWait: Wait;
}

/** @throws {StoreError} if the files of a commit are so old that they may be collected as garbage */
function requireYoung(ageMs: number): void {
  if (ageMs < COMMIT_WITHIN_MS) return;
  throw new StoreError(`store: a commit took ${Math.round(ageMs / 3_600_000)} hours, and its files may be gone`, {
    code: 'too-late',
    retryable: true,
    hint: 'run the same command again: it does what is missing',
  });
}
