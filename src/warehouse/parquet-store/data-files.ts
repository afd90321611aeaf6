import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { TableDef } from '../../declare/table.ts';
import { failedWith, ifAny } from '../../files/disk.ts';
import { guarded } from '../../files/file-failure.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import { DATE_COLUMN, dateIn, partitionOf } from '../file-layout.ts';
import { markPublished, type PublishedEntry, readPublished, unmarkPublished } from '../garbage/published-entries.ts';
import { LedgerFolder, readIdentity, requireOwnEntries } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { requireKind } from '../open-store.ts';
import { committedMarts } from '../relations/mart-views.ts';
import type { SchemaColumn } from '../relations/table-schema.ts';
import type { LedgerEntry, Store, TableFile } from '../store.ts';
import { warehousePath } from '../store-options.ts';
import { pinFile, pinnedPath } from './pinned-files.ts';

/** A data file in force, and what other engines need to know of it. */
export interface DataFile extends TableFile {
  /** Number of its ledger entry. */
  readonly entry: number;
  /** UTC day of its rows; null where the time is null, undefined if the file is not in the folder of a day. */
  readonly date: string | null | undefined;
  /** Its name, relative to the warehouse, that stays when it is superseded; see `DataFiles.keep`. */
  readonly lastingPath: string;
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

/** What a Parquet warehouse held after an entry of its ledger. */
export interface FilesInForce {
  /** Number of the newest entry; 0 for an empty ledger. */
  readonly entry: number;
  /** Ids of ledger entries by number, without those that a checkpoint left out. */
  readonly ids: ReadonlyMap<number, string>;
  /** Tables and marts that were committed. */
  readonly tables: readonly TableInForce[];
}

/** The data files of a Parquet warehouse, for programs that read them without us. No lock is needed. */
export interface DataFiles {
  /** Absolute path of the warehouse. */
  readonly path: string;
  readonly network: string;
  /** What is in force now. @throws {StoreError} `needs-migration`, `bad-ledger` */
  read(tables: readonly TableDef[]): Promise<FilesInForce>;
  /**
   * Gives a file its lasting name, unless it has it.
   * @throws {StoreError} `no-links` if the file system cannot give a file two names; `bad-ledger` if the file is missing
   */
  keep(file: DataFile): Promise<void>;
  /** Entries whose files stay also when they are superseded, ascending. */
  published(): Promise<readonly PublishedEntry[]>;
  /** Makes the files of an entry stay. */
  mark(entry: PublishedEntry, draftId: string): Promise<void>;
  unmark(number: number): Promise<void>;
}

/**
 * Requires that a warehouse is a folder of data files, or will be one.
 *
 * @param kind of a new warehouse; default: by its name
 * @throws {StoreError} `no-files` for a DuckDB warehouse, or one in an object store
 */
async function requireDataFiles(warehouse: string, kind: Store['kind'] | undefined): Promise<void> {
  const path = warehousePath(warehouse);
  if (isObjectUrl(path)) {
    throw new StoreError(`store: warehouse ${path} is in an object store, expected a folder`, {
      code: 'no-files',
      hint: `copy it to a folder first: tonlake copy ${path} FOLDER`,
    });
  }
  if ((await requireKind(path, kind)) === 'duckdb') {
    throw new StoreError(`store: warehouse ${path} is a single file, expected a folder of Parquet files`, {
      code: 'no-files',
      hint: 'export to a folder: --store parquet',
    });
  }
}

/**
 * @param kind expected of a warehouse that does not exist yet
 * @throws {StoreError} `no-files` for a DuckDB warehouse, or one in an object store; `no-warehouse`
 */
export async function openDataFiles(warehouse: string, kind?: Store['kind']): Promise<DataFiles> {
  const path = warehousePath(warehouse);
  await requireDataFiles(path, kind);
  const identity = await guarded(`warehouse ${path}`, () => readIdentity(path));
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  return {
    path,
    network,
    read: (tables) => guarded(`warehouse ${path}`, () => readInForce(path, network, tables)),
    keep: (file) => guarded(`warehouse ${path}`, () => keepFile(path, file)),
    published: () => readPublished(path),
    mark: (entry, draftId) => guarded(`warehouse ${path}`, () => markPublished(path, entry, draftId)),
    unmark: (number) => unmarkPublished(path, number),
  };
}

async function readInForce(path: string, network: string, declared: readonly TableDef[]): Promise<FilesInForce> {
  const ledger = new LedgerFolder(path);
  requireOwnEntries(path, network, await ledger.refresh());
  ledger.requireReadable(declared, path);
  const { effective, forgotten, all } = ledger.entries;
  const tables = [
    ...declared.map((table) => ({ table, isMart: false })),
    ...committedMarts(ledger).map((table) => ({ table, isMart: true })),
  ];
  return {
    entry: [...effective, ...forgotten].reduce((most, { number }) => Math.max(most, number), 0),
    ids: new Map(all.map(({ number, id }) => [number, id])),
    tables: tables.flatMap(({ table, isMart }) => {
      const held = effective.filter((entry) => entry.tables[table.name] !== undefined);
      if (held.length === 0) return [];
      const files = held.flatMap((entry) => filesOf(ledger, entry, table));
      return [{ table, isMart, partition: partitionOfTable(table), files }];
    }),
  };
}

function filesOf(ledger: LedgerFolder, { number, tables }: LedgerEntry, { name }: TableDef): readonly DataFile[] {
  const part = tables[name];
  if (part === undefined || part.files.length === 0) return [];
  const { columns } = ledger.schema(part.schema);
  return part.files.map((file) => ({
    ...file,
    entry: number,
    date: dateOf(file.path),
    lastingPath: pinnedPath(file.path),
    columns,
  }));
}

function dateOf(path: string): string | null | undefined {
  const [unknown = ''] = partitionOf(null);
  return path.includes(`/${unknown}/`) ? null : dateIn(path);
}

function partitionOfTable({ time, columns }: TableDef): string | undefined {
  return time !== undefined && columns.some(({ name }) => name === DATE_COLUMN) ? DATE_COLUMN : undefined;
}

async function keepFile(warehouse: string, { path, lastingPath }: DataFile): Promise<void> {
  const isThere = async () => (await ifAny(stat(join(warehouse, lastingPath)))) !== undefined;
  if (await isThere()) return;
  try {
    if (await pinFile(warehouse, path)) return;
  } catch (error) {
    // The writer has given it the name meanwhile, or has superseded the file and removed the other name.
    if (failedWith(error, 'EEXIST', 'ENOENT') && (await isThere())) return;
    if (!failedWith(error, 'ENOENT')) throw error;
    throw new StoreError(`store: warehouse ${warehouse}: missing file ${path}, which its ledger names`, {
      code: 'bad-ledger',
      hint: `tonlake verify --repair --warehouse ${warehouse}`,
      cause: error,
    });
  }
  throw new StoreError(
    `store: warehouse ${warehouse} is on a file system without hard links, where superseded files change their paths`,
    {
      code: 'no-links',
      hint: 'move it to another file system: its tables can be published there',
    },
  );
}
