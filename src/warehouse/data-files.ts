import { StoreError } from '../core/errors.ts';
import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import type { SmallObjects } from '../objects/object-store.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import type { Backend } from './backend.ts';
import { DATE_COLUMN, dateOf } from './file-layout.ts';
import { readIdentity, requireOwnEntries } from './ledger/ledger-folder.ts';
import { noWarehouse } from './no-warehouse.ts';
import { openBackend } from './open-backend.ts';
import { requireKind } from './open-store.ts';
import { martsIn } from './relations/mart-views.ts';
import type { SchemaColumn } from './relations/table-schema.ts';
import type { LedgerEntry, Store, TableFile } from './store.ts';
import { warehousePath } from './store-options.ts';

/** A data file in force, as other engines need it. */
export interface DataFile extends TableFile {
  /** Number of its ledger entry. */
  readonly entry: number;
  /** UTC day of its rows; null if their time is null, undefined if the table has no time. */
  readonly date: string | null | undefined;
  /** Path, relative to the warehouse, that {@link DataFiles.pin} keeps when the file is superseded. */
  readonly stablePath: string;
  /** Columns with their DuckDB types. */
  readonly columns: readonly SchemaColumn[];
}

/** The files of a table or mart. */
export interface TableInForce {
  readonly table: TableDef;
  /** True if its rows belong to a mart. */
  readonly isMart: boolean;
  /** The column by which files are divided into folders, if the table has time. */
  readonly partition: string | undefined;
  readonly files: readonly DataFile[];
}

/** The state of a Parquet warehouse after an entry of its ledger. */
export interface FilesInForce {
  /** Number of the newest entry; 0 for an empty ledger. */
  readonly entry: number;
  /** Ids of ledger entries by number, except those that a checkpoint left out. */
  readonly ids: ReadonlyMap<number, string>;
  /** Entries in force. */
  readonly ledger: readonly LedgerEntry[];
  /** Entries that record rows removed on purpose. */
  readonly forgotten: readonly LedgerEntry[];
  /** Tables and marts that were committed. */
  readonly tables: readonly TableInForce[];
}

/** The data files of a Parquet warehouse, for other engines. No lock is needed. */
export interface DataFiles {
  /** Absolute path or address of the warehouse. */
  readonly path: string;
  readonly network: string;
  /** The warehouse as objects; publication marks and metadata are in `iceberg/`. */
  readonly objects: SmallObjects;
  /** The state now. @throws {StoreError} `needs-migration`, `newer-tonlake`, `bad-ledger` */
  read(tables: readonly TableDef[]): Promise<FilesInForce>;
  /**
   * Makes sure that files exist under their stable paths. Called after their entry was marked as published.
   * @throws {StoreError} if the file system cannot give a file two names; `bad-ledger` if a file is missing or truncated
   */
  pin(files: readonly DataFile[]): Promise<void>;
}

/**
 * Opens the data files of a Parquet warehouse.
 *
 * @param kind expected of a warehouse that does not exist yet; default: by its name
 * @throws {StoreError} for a DuckDB warehouse; `no-warehouse`
 */
export async function openDataFiles(warehouse: string, kind?: Store['kind']): Promise<DataFiles> {
  const path = warehousePath(warehouse);
  if (!isObjectUrl(path) && (await requireKind(path, kind)).kind === 'duckdb') {
    throw new StoreError(`store: warehouse ${path} is a single file, expected a folder of Parquet files`, {
      hint: 'export to a folder: --store parquet',
    });
  }
  const backend = await openBackend(path);
  const identity = await guarded(`warehouse ${path}`, () => readIdentity(backend.objects));
  if (identity === undefined) throw noWarehouse(path);
  const { objects, pin } = backend;
  return {
    path,
    network: identity.network,
    objects,
    read: (tables) => readInForce(backend, identity.network, tables),
    pin,
  };
}

function readInForce(backend: Backend, network: string, declared: readonly TableDef[]): Promise<FilesInForce> {
  const { path, stablePathOf } = backend;
  const ledger = backend.ledger();
  return guarded(`warehouse ${path}`, async () => {
    requireOwnEntries(path, network, await ledger.refresh());
    ledger.requireWritable(declared, path);
    const { effective, forgotten, all } = ledger.entries;
    const tables = [
      ...declared.map((table) => ({ table, isMart: false })),
      ...martsIn(ledger).map((table) => ({ table, isMart: true })),
    ];
    return {
      entry: [...effective, ...forgotten].reduce((most, { number }) => Math.max(most, number), 0),
      ids: new Map(all.map(({ number, id }) => [number, id])),
      ledger: effective,
      forgotten,
      tables: tables.flatMap(({ table, isMart }) => {
        const parts = effective.flatMap(({ number, tables: { [table.name]: part } }) =>
          part ? [{ number, part }] : [],
        );
        if (parts.length === 0) return [];
        const files = parts.flatMap(({ number, part }) =>
          part.files.map((file) => ({
            ...file,
            entry: number,
            date: dateOf(file.path),
            stablePath: stablePathOf(file.path),
            columns: ledger.schemas.get(part.schema).columns,
          })),
        );
        return [{ table, isMart, partition: partitionOfTable(table), files }];
      }),
    };
  });
}

function partitionOfTable({ time, columns }: TableDef): string | undefined {
  return time !== undefined && columns.some(({ name }) => name === DATE_COLUMN) ? DATE_COLUMN : undefined;
}
