import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { readLockHolder } from '../../files/writer-lock.ts';
import { type Traffic, takeTraffic } from '../../sql/http-traffic.ts';
import { LedgerFolder, layoutOf, readIdentity, requireOwnEntries } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { readerSettings } from '../reader-settings.ts';
import { martsIn } from '../relations/mart-views.ts';
import { type ViewsOptions, WarehouseViews } from '../relations/warehouse-views.ts';
import { groupFiles, pathsIn, selectEachFile, selectEntries } from './entry-files.ts';

/** Opens a folder of Parquet files for reading, also while it is written. @throws {StoreError} `no-warehouse`, `needs-migration` */
export async function openParquetReader(
  path: string,
  tables: readonly TableDef[],
  options: ReaderOptions,
): Promise<Reader> {
  const identity = await readIdentity(path);
  if (identity === undefined) throw noWarehouse(path);
  return ledgerReader({
    ...{ path, tables, options, network: identity.network, ledger: new LedgerFolder(path) },
    // The cache keeps 32 KB of each file that was ever read; the system caches local files anyway.
    settings: { ...readerSettings(), enable_external_file_cache: 'false' },
    ...{ pathOf: pathsIn(path), confinement: options.confinement },
  });
}

interface LedgerReaderOptions extends ViewsOptions {
  readonly network: string;
  /** Requests for the ledger since the last call; those for rows are counted, too. Default: nothing is counted. */
  readonly takeLedgerTraffic?: (() => Traffic) | undefined;
  readonly options: ReaderOptions;
}

/** Reads Parquet files as a ledger says, wherever they lie. */
export async function ledgerReader(given: LedgerReaderOptions): Promise<Reader> {
  const { path, network, ledger, tables, pathOf, takeLedgerTraffic } = given;
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
  /** What reads the warehouse as it is now, unless it is pinned to a state. */
  const current =
    <A extends readonly unknown[], R>(read: (...given: A) => R | Promise<R>) =>
    async (...own: A): Promise<R> => {
      if (given.options.isPinned !== true) await refresh();
      return read(...own);
    };
  const views = new WarehouseViews(given);
  return {
    kind: 'parquet',
    blocksWriters: false,
    path,
    network,
    query: current((sql, parameters) => views.query(sql, parameters)),
    stream: current((sql, parameters, use) => views.stream(sql, parameters, use)),
    forgotten: current(() => ledger.entries.forgotten),
    ledger: current(() => ledger.entries.effective),
    marts: current(() => martsIn(ledger)),
    log: current((after, most) => guarded(`warehouse ${path}`, () => ledger.log(after, most))),
    select: (table, entries) => selectEntries(pathOf, ledger, table, entries),
    files: current((table) => groupFiles(pathOf, ledger, table).flatMap(({ paths }) => paths)),
    selectEach: current((table) => selectEachFile(pathOf, ledger, table, ledger.entries.effective)),
    writer: () => readLockHolder(layoutOf(path).lock),
    requireQuery: current((statement) => views.requireQuery(statement)),
    ...(takeLedgerTraffic && {
      traffic: async () => {
        const data = await views.withDatabase(takeTraffic);
        return { data: data ?? { requests: 0, bytes: 0 }, ledger: takeLedgerTraffic() };
      },
    }),
    define: (functions) => views.define(functions),
    refresh,
    interrupt: () => views.interrupt(),
    release: async () => {},
    close: () => views.close(),
  };
}
