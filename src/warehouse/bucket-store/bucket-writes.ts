import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startAge } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { runLimited } from '../../core/run-limited.ts';
import type { Span } from '../../core/span.ts';
import { closeAll } from '../../files/file-failure.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Database } from '../../sql/database.ts';
import { Instance } from '../../sql/instance.ts';
import type { Backend, Reads, Writes } from '../backend.ts';
import { pathOfFile } from '../file-layout.ts';
import { filesIn } from '../ledger/entries-in.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { writerSettings } from '../reader-settings.ts';
import type { FileStage, LedgerEntry, StagedFile, StagedSpan, StagedTable } from '../store.ts';
import { GRACE_MS, type StoreOptions, stepOf } from '../store-options.ts';
import { COMMIT_WITHIN_MS, collectGarbage } from './bucket-garbage.ts';
import { BucketScans } from './bucket-scans.ts';
import { type EarlyUpload, EarlyUploads } from './early-uploads.ts';
import { LocalCopies } from './local-copies.ts';
import { openWorkFolder } from './work-folder.ts';

/** Files of a commit that are uploaded concurrently. */
const UPLOADS = 4;

/** The part of the backend that {@link BucketWrites} needs. */
interface Place extends Pick<Backend, 'access'> {
  readonly objects: ObjectStore;
}

/** One of the writers of a place in an object store. */
export class BucketWrites implements Writes {
  readonly stagingPath: string;
  readonly instance: Instance;
  readonly #work: string;
  readonly #options: StoreOptions;
  readonly #objects: ObjectStore;
  readonly #ledger: LedgerFolder;
  readonly #access: () => (database: Database) => Promise<void>;
  readonly #copies: LocalCopies;
  readonly #uploads: EarlyUploads;
  /** Age of the first file of the running commit. */
  #ageMs: () => number = () => 0;

  private constructor(place: Place, ledger: LedgerFolder, options: StoreOptions, work: string) {
    this.#work = work;
    this.stagingPath = join(work, 'stage');
    this.instance = new Instance(writerSettings(this.stagingPath, 'stages', { threads: 1 }));
    this.#options = options;
    this.#objects = place.objects;
    this.#access = place.access;
    this.#ledger = ledger;
    this.#copies = new LocalCopies(join(work, 'copies'));
    this.#uploads = new EarlyUploads(place.objects, options.effects);
  }

  static async open(place: Place, ledger: LedgerFolder, options: StoreOptions): Promise<BucketWrites> {
    return new BucketWrites(place, ledger, options, await openWorkFolder());
  }

  readonly pathOf = (file: string): string => this.#copies.pathOf(file) ?? `${this.#objects.url}/${file}`;

  stage(files: FileStage, span: Span): FileStage {
    return growingStage(files, span, this.#uploads);
  }

  openReads(beside?: string): Reads {
    // A separate instance with httpfs, which caches the bytes that it has read.
    const settings = writerSettings(this.stagingPath, beside ?? 'queries', { threads: beside === undefined ? 2 : 1 });
    const instance = new Instance({ ...settings, enable_external_file_cache: 'true' });
    const scans = new BucketScans();
    const access = this.#access();
    return {
      ...{ instance, scans, close: () => closeAll([() => instance.close(), () => scans.close()]) },
      // A run that reads only its own files needs no extension.
      prepare: async (database) => {
        if (this.#ledger.entries.effective.some((entry) => this.#isElsewhere(entry))) await access(database);
      },
    };
  }

  readBy<T>(query: () => Promise<T>): Promise<T> {
    return this.#copies.readBy(query);
  }

  async open(isNew: boolean, refresh: () => Promise<void>): Promise<void> {
    if (!isNew) await this.#collect(false, refresh);
  }

  async place(files: readonly StagedFile[]): Promise<void> {
    const step = stepOf(this.#options);
    this.#ageMs = startAge(this.#options.effects);
    await step('upload files');
    await runLimited(
      UPLOADS,
      files.map((file) => async () => {
        await step('upload file');
        await this.#uploads.put(file);
      }),
    );
  }

  requireYoung(): void {
    const ageMs = this.#ageMs();
    if (ageMs < COMMIT_WITHIN_MS) return;
    throw new StoreError(`store: a commit took ${Math.round(ageMs / 3_600_000)} hours, and its files may be gone`, {
      code: 'too-late',
      retryable: true,
      hint: 'run the same command again: it does what is missing',
    });
  }

  /** Moves the files of a commit to the local copies. Superseded objects stay until garbage collection. */
  async settle(staged: readonly StagedSpan[]): Promise<void> {
    for (const each of staged) await this.#copies.take(each);
  }

  clear(refresh: () => Promise<void>): Promise<number> {
    return this.#collect(true, refresh);
  }

  async close(): Promise<void> {
    await closeAll([
      () => this.instance.close(),
      () => this.#uploads.close(),
      () => rm(this.#work, { recursive: true, force: true }),
    ]);
  }

  #collect(isForced: boolean, refresh: () => Promise<void>): Promise<number> {
    const { graceMs = GRACE_MS } = this.#options;
    return collectGarbage(this.#objects, this.#ledger, { graceMs, isForced }, refresh);
  }

  #isElsewhere(entry: LedgerEntry): boolean {
    return filesIn([entry]).some(({ path }) => this.#copies.pathOf(path) === undefined);
  }
}

/** Minimum size of a file that is uploaded while it grows, in bytes. Smaller ones are put by one request. */
const EARLY_BYTES = 16 * 2 ** 20;

/**
 * A stage that uploads large files while they grow. Their names contain the blocks of the first part of the commit, because the last block
 * is not known when the upload begins.
 */
function growingStage(files: FileStage, span: Span, uploads: EarlyUploads): FileStage {
  const { id, folder, form } = files;
  /** By local path. */
  const own = new Map<string, EarlyUpload>();
  /** Aborts the uploads of all files except these. */
  const abortOthers = async (paths: ReadonlySet<string>): Promise<void> => {
    for (const [path, early] of own) {
      if (paths.has(path)) continue;
      own.delete(path);
      await uploads.abort(early);
    }
  };
  const named = (table: StagedTable): StagedTable => ({
    ...table,
    files: table.files.map((file) => ({ ...file, path: own.get(file.stagedPath)?.key ?? file.path })),
  });
  return {
    ...{ id, folder, form },
    write: (...rows) => files.write(...rows),
    adopt: (...file) => files.adopt(...file),
    take: (...file) => files.take(...file),
    grow: async (growing) => {
      await abortOthers(new Set(growing.map(({ path }) => path)));
      for (const { table, path, date, bytes } of growing) {
        const known = own.get(path);
        if (known === undefined && bytes < EARLY_BYTES) continue;
        const early = known ?? uploads.begin(pathOfFile(table, date, span, id), path);
        own.set(path, early);
        early.upload.grow(bytes);
      }
    },
    finish: async (options) => {
      const { tables } = await files.finish(options);
      await abortOthers(new Set(filesIn([{ tables }]).map(({ stagedPath }) => stagedPath)));
      return { id, tables: Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, named(table)])) };
    },
    discard: async () => {
      await abortOthers(new Set());
      await files.discard();
    },
  };
}
