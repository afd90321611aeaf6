import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { statIfAny } from '../../files/disk.ts';
import type { Backend } from '../backend.ts';
import { spansOf } from '../ledger/done-spans.ts';
import { filesByDay } from '../ledger/entries-in.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { committedMeanwhile } from '../ledger/rival-entries.ts';
import type { EntryDay, EntryRows, LedgerEntry, TableFile } from '../store.ts';
import { requireCommitted, selectEntries } from './entry-files.ts';

/**
 * {@link EntryRows} of Parquet files.
 *
 * @param pathOf where they are read: files may have been kept on this machine
 * @param refresh reads what other writers have committed
 */
export function entryRows(
  backend: Backend,
  ledger: LedgerFolder,
  { pathOf, refresh }: Pick<Backend, 'pathOf'> & { readonly refresh: () => Promise<void> },
): EntryRows {
  /** Another writer may have taken a file out of force so long ago that it was collected since. */
  const unlessReplaced = async (file: TableFile, work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (!backend.isShared) throw error;
      const holds = (entry: LedgerEntry): boolean => filesOf(entry).includes(file.path);
      const before = ledger.entries.effective.find(holds);
      await refresh();
      if (before === undefined || ledger.entries.effective.some(holds)) throw error;
      throw committedMeanwhile(before.pipeline, spansOf(before));
    }
  };
  return {
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    days: async (table) => ledger.entries.effective.flatMap((entry) => daysOf(entry, table)),
    requireSound: async ({ tables }) => {
      for (const file of Object.values(tables).flatMap(({ files }) => files)) {
        const sum = backend.sumOf(file.path);
        await unlessReplaced(
          file,
          sum.then((found) => requireCommitted(backend.path, file, found)),
        );
      }
    },
    localFolder: async (files, scratch) => {
      if (!backend.isShared) return backend.path;
      const folder = join(scratch, 'fetched');
      for (const file of files) {
        const path = join(folder, file.path);
        if ((await statIfAny(path)) !== undefined) continue;
        await mkdir(dirname(path), { recursive: true });
        await unlessReplaced(file, fetchFile(backend, file, path));
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

/** A local file with the bytes of a data file as they were committed: `to` if it had to be fetched. @throws {StoreError} `damaged` */
export async function fetchFile(backend: Backend, file: TableFile, to: string): Promise<string> {
  const got = await backend.download(file.path, to);
  requireCommitted(backend.path, file, got?.sum);
  return got?.local ?? to;
}
