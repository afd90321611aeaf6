import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { statIfAny } from '../../files/disk.ts';
import type { Backend } from '../backend.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { filesByDay, filesIn } from '../ledger/entries-in.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { committedMeanwhile } from '../ledger/rival-entries.ts';
import type { EntryDay, EntryRows, LedgerEntry, TableFile } from '../store.ts';
import { requireCommitted, selectEntries } from './entry-files.ts';

/**
 * {@link EntryRows} of Parquet files.
 *
 * @param pathOf where the writer reads them, maybe in local copies
 * @param refresh reads the commits of other writers
 */
export function entryRows(
  backend: Backend,
  ledger: LedgerFolder,
  { pathOf, refresh }: Pick<Backend, 'pathOf'> & { readonly refresh: () => Promise<void> },
): EntryRows {
  /** Explains a failed read if another writer has superseded the file, and garbage collection has removed it. */
  const unlessReplaced = async (file: TableFile, read: () => Promise<unknown>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (!backend.isShared) throw error;
      const isNaming = (entry: LedgerEntry): boolean => filesOf(entry).includes(file.path);
      const before = ledger.entries.effective.find(isNaming);
      await refresh();
      if (before === undefined || ledger.entries.effective.some(isNaming)) throw error;
      throw committedMeanwhile(before.pipeline, spansOf(before));
    }
  };
  return {
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    days: async (table) => ledger.entries.effective.flatMap((entry) => daysOf(entry, table)),
    requireSound: async (entry) => {
      for (const file of filesIn([entry])) {
        await unlessReplaced(file, async () => requireCommitted(backend.path, file, await backend.sumOf(file.path)));
      }
    },
    localFolder: async (files, scratch) => {
      if (!backend.isShared) return backend.path;
      const folder = join(scratch, 'fetched');
      for (const file of files) {
        const path = join(folder, file.path);
        if ((await statIfAny(path)) !== undefined) continue;
        await mkdir(dirname(path), { recursive: true });
        await unlessReplaced(file, () => fetchFile(backend, file, path));
      }
      return folder;
    },
  };
}

/** The days of an entry's rows, from the folders of its files. */
function daysOf(entry: LedgerEntry, table: string): readonly EntryDay[] {
  const own = entry.tables[table];
  if (own === undefined) return [];
  return [...filesByDay(own).keys()].flatMap((date) => (date === undefined ? [] : [{ date, entry }]));
}

/** A local file with the committed bytes of a data file, which is `to` if they were downloaded. @throws {StoreError} `damaged` */
export async function fetchFile(backend: Backend, file: TableFile, to: string): Promise<string> {
  const got = await backend.download(file.path, to);
  requireCommitted(backend.path, file, got?.sum);
  return got?.local ?? to;
}
