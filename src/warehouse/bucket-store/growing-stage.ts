import type { Span } from '../../core/span.ts';
import type { Batch } from '../../decode/batch.ts';
import { pathOfFile } from '../file-layout.ts';
import type { FileForm, FolderState, GrowingFile } from '../staging/row-folder.ts';
import type { FileStage, FinishOptions, StagedSpan, StagedTable } from '../store.ts';
import type { EarlyUpload, EarlyUploads } from './early-uploads.ts';

/** Minimum size of a file that is uploaded while it grows, in bytes. Smaller ones are put by one request. */
const EARLY_BYTES = 16 * 2 ** 20;

/**
 * A stage that uploads large files while they grow. Their names contain the blocks of the first part of the commit, because the last block
 * is not known when the upload begins.
 */
export class GrowingStage implements FileStage {
  readonly #files: FileStage;
  readonly #span: Span;
  readonly #uploads: EarlyUploads;
  /** By local path. */
  readonly #own = new Map<string, EarlyUpload>();

  constructor(files: FileStage, span: Span, uploads: EarlyUploads) {
    this.#files = files;
    this.#span = span;
    this.#uploads = uploads;
  }

  get id(): string {
    return this.#files.id;
  }

  get folder(): string {
    return this.#files.folder;
  }

  get form(): FileForm {
    return this.#files.form;
  }

  write(batch: Batch, startsPart?: boolean): Promise<FolderState> {
    return this.#files.write(batch, startsPart);
  }

  adopt(...file: Parameters<FileStage['adopt']>): Promise<void> {
    return this.#files.adopt(...file);
  }

  take(...file: Parameters<FileStage['take']>): Promise<void> {
    return this.#files.take(...file);
  }

  async grow(files: readonly GrowingFile[]): Promise<void> {
    await this.#abortOthers(new Set(files.map(({ path }) => path)));
    for (const { table, path, date, bytes } of files) {
      const known = this.#own.get(path);
      if (known === undefined && bytes < EARLY_BYTES) continue;
      const early = known ?? this.#uploads.begin(pathOfFile(table, date, this.#span, this.id), path);
      this.#own.set(path, early);
      early.upload.grow(bytes);
    }
  }

  async finish(options?: FinishOptions): Promise<StagedSpan> {
    const { id, tables } = await this.#files.finish(options);
    const all = Object.values(tables).flatMap(({ files }) => files);
    await this.#abortOthers(new Set(all.map(({ stagedPath }) => stagedPath)));
    return {
      id,
      tables: Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, this.#named(table)])),
    };
  }

  async discard(): Promise<void> {
    await this.#abortOthers(new Set());
    await this.#files.discard();
  }

  #named(table: StagedTable): StagedTable {
    const files = table.files.map((file) => ({ ...file, path: this.#own.get(file.stagedPath)?.key ?? file.path }));
    return { ...table, files };
  }

  /** Aborts the uploads of all files except these. */
  async #abortOthers(paths: ReadonlySet<string>): Promise<void> {
    for (const [path, early] of this.#own) {
      if (paths.has(path)) continue;
      this.#own.delete(path);
      await this.#uploads.abort(early);
    }
  }
}
