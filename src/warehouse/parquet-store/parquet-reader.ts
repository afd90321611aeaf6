import { closeAll, guarded } from '../../files/file-failure.ts';
import { readLockHolder } from '../../files/writer-lock.ts';
import { takeTraffic } from '../../sql/http-traffic.ts';
import type { Backend } from '../backend.ts';
import { DeclarationFolder } from '../ledger/declarations.ts';
import { layoutOf, readIdentity, requireOwnEntries } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { martsIn } from '../relations/mart-views.ts';
import { WarehouseViews } from '../relations/warehouse-views.ts';
import type { TablesOf } from '../store-driver.ts';
import { groupFiles, selectEachFile, selectEntries } from './entry-files.ts';

/** Opens a warehouse of Parquet files for reading, also while it is written. @throws {StoreError} `no-warehouse`, `needs-migration` */
export async function openParquetReader(backend: Backend, tablesOf: TablesOf, options: ReaderOptions): Promise<Reader> {
  const { path, pathOf, relocation } = backend;
  const identity = await readIdentity(backend.objects);
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  const tables = await tablesOf(new DeclarationFolder(backend.objects));
  const ledger = backend.ledger();
  const { takeLedgerTraffic, close, ...reads } = backend.openReads(options);
  // One refresh at a time: concurrent ones would add the same entries twice.
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
  /** Refreshes before each call, unless the reader is pinned. */
  const current =
    <A extends readonly unknown[], R>(read: (...args: A) => R | Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (options.isPinned !== true) await refresh();
      return read(...args);
    };
  const views = new WarehouseViews({
    ...reads,
    path,
    ledger,
    tables,
    pathOf,
    relocation,
    confinement: options.confinement,
  });
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
    close: () => closeAll([() => views.close(), close]),
  };
}
