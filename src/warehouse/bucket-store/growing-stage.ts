import type { Span } from '../../core/span.ts';
import { pathOfFile } from '../file-layout.ts';
import { filesIn } from '../ledger/entries-in.ts';
import type { FileStage, StagedTable } from '../store.ts';
import type { EarlyUpload, EarlyUploads } from './early-uploads.ts';

/** Minimum size of a file that is uploaded while it grows, in bytes. Smaller ones are put by one request. */
const EARLY_BYTES = 16 * 2 ** 20;

/**
 * A stage that uploads large files while they grow. Their names contain the blocks of the first part of the commit, because the last block
 * is not known when the upload begins.
 */
export function growingStage(files: FileStage, span: Span, uploads: EarlyUploads): FileStage {
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
