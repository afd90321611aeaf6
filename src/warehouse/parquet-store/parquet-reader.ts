import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { LedgerFolder, readIdentity, requireOwnEntries } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { readerSettings } from '../reader-settings.ts';
import { WarehouseViews } from '../relations/warehouse-views.ts';
import { groupFiles, selectEachFile, selectEntries } from './entry-files.ts';

/** Opens a folder of Parquet files for reading, also while it is written. @throws {StoreError} `no-warehouse`, `needs-migration` */
export async function openParquetReader(
  path: string,
  tables: readonly TableDef[],
  { isPinned, confinement }: ReaderOptions,
): Promise<Reader> {
  const identity = await readIdentity(path);
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  const ledger = new LedgerFolder(path);
  // One refresh at a time: two at once would add the same entries twice.
  let last: Promise<void> = Promise.resolve();
  const refresh = (): Promise<void> => {
    const next = last.then(async () => {
      const fresh = await ledger.refresh();
      requireOwnEntries(path, network, fresh);
      if (fresh.length > 0) ledger.requireReadable(tables, path);
    });
    last = next.catch(() => {});
    return guarded(`warehouse ${path}`, () => next);
  };
  await refresh();
  const follow = isPinned === true ? async () => {} : refresh;
  const views = new WarehouseViews(path, ledger, tables, readerSettings(), confinement);
  return {
    kind: 'parquet',
    blocksWriters: false,
    path,
    network,
    query: async (sql, parameters) => {
      await follow();
      return views.query(sql, parameters);
    },
    stream: async (sql, parameters, use) => {
      await follow();
      return views.stream(sql, parameters, use);
    },
    forgotten: async () => {
      await follow();
      return ledger.entries.forgotten;
    },
    ledger: async () => {
      await follow();
      return ledger.entries.effective;
    },
    log: async (after) => {
      await follow();
      return guarded(`warehouse ${path}`, () => ledger.log(after));
    },
    select: (table, entries) => selectEntries(path, ledger, table, entries),
    files: async (table) => {
      await follow();
      return groupFiles(path, ledger, table).flatMap(({ paths }) => paths);
    },
    selectEach: async (table) => {
      await follow();
      return selectEachFile(path, ledger, table, ledger.entries.effective);
    },
    requireQuery: async (statement) => {
      await follow();
      return views.requireQuery(statement);
    },
    interrupt: () => views.interrupt(),
    release: async () => {},
    close: () => views.close(),
  };
}
