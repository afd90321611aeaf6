import type { Effects } from '../core/effects.ts';
import type { FileSum, WarehouseObjects } from '../objects/object-store.ts';
import type { Database, Relocation } from '../sql/database.ts';
import type { Traffic } from '../sql/http-traffic.ts';
import type { Instance } from '../sql/instance.ts';
import type { LedgerFolder } from './ledger/ledger-folder.ts';
import type { PathOf } from './parquet-store/entry-files.ts';
import type { ReaderOptions } from './reader.ts';
import type { ViewsOptions } from './relations/warehouse-views.ts';
import type { StagedFile, StagedSpan, Store, TableFile } from './store.ts';
import type { StoreOptions } from './store-options.ts';
import type { Writer } from './writer.ts';

/** The place of a warehouse of Parquet files: everything that differs between a folder and an object store. */
export interface Backend {
  /** Absolute path, or `s3://bucket/prefix`. */
  readonly path: string;
  /** True if any number of processes can write at the same time. Otherwise only the one that holds the lock. */
  readonly isShared: boolean;
  /** Identity, ledger, schemas, declarations and checkpoints; marks and metadata of publications. */
  readonly objects: WarehouseObjects;
  /** The ledger, not read yet. */
  ledger(): LedgerFolder;
  /** Takes the lock, if there is one. @throws {StoreError} `busy` */
  lock(command: string, effects: Effects): Promise<{ release(): Promise<void> }>;

  /** Where DuckDB reads a data file. */
  readonly pathOf: PathOf;
  /** Finds data files that moved because they were superseded while a statement ran. Default: they do not move. */
  readonly relocation?: Relocation | undefined;
  /** Returns a function that lets databases read data files. It is called before each query, because credentials can be renewed. */
  access(): (database: Database) => Promise<void>;
  /** How readers query data files. */
  openReads(options: ReaderOptions): Reads;
  /** How a writer places what it commits, and queries beside commits. */
  openWrites(ledger: LedgerFolder, options: StoreOptions): Promise<Writes>;
  /** Size of a data file at the path of files in force; undefined if there is none. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Size and checksum of a data file, wherever it lies; undefined if there is none. */
  sumOf(path: string): Promise<FileSum | undefined>;
  /** A local file with the bytes of a data file, which is `to` if they were downloaded; undefined if there is none. */
  download(path: string, to: string): Promise<{ readonly local: string; readonly sum: FileSum } | undefined>;
  /** Puts a data file that no entry names yet. @throws {StoreError} `damaged` */
  put(file: TableFile, local: string): Promise<void>;
  /** Tries if the place supports the writes that commits need. @throws {StoreError} */
  requireWritable(effects: Effects): Promise<void>;
  /** Tries if DuckDB can read its files. @throws {StoreError} */
  requireQueries(): Promise<void>;

  /** Moves data files in force back from the place of superseded ones. Absent if superseded files do not move. */
  readonly restore?: ((paths: readonly string[]) => Promise<void>) | undefined;
  /** The path under which {@link pin} keeps a data file when it is superseded. */
  stablePathOf(path: string): string;
  /** Makes sure that files exist under their stable paths. @throws {StoreError} `bad-ledger` */
  pin(files: readonly TableFile[]): Promise<void>;
}

/** How a reader queries data files. */
export interface Reads extends Pick<ViewsOptions, 'instance' | 'prepare' | 'scans'> {
  /** Requests for the ledger since the last call. If present, requests for rows are counted, too. */
  readonly takeLedgerTraffic?: (() => Traffic) | undefined;
  close(): Promise<void>;
}

/** How a writer places what it commits. */
export interface Writes {
  /** Folder of staged files. */
  readonly stagingPath: string;
  /** Measures and encodes the files of stages. */
  readonly instance: Instance;
  /** Where this writer reads a data file, which can be a local copy. */
  readonly pathOf: PathOf;
  readonly stage?: Writer['stage'];
  /** @param beside name of a separate instance, for queries beside the writer's own. Default: the writer's own queries */
  openReads(beside?: string): Reads;
  /** Runs a query, during which no file that it can read is removed. */
  readBy<T>(query: () => Promise<T>): Promise<T>;
  /** Removes what killed writers left. @param refresh reads the commits of other writers */
  open(isNew: boolean, refresh: () => Promise<void>): Promise<void>;
  /** Puts data files that no entry names yet, durably. */
  place(files: readonly StagedFile[]): Promise<void>;
  /** @throws {StoreError} `too-late` if the placed files are so old that garbage collection may have removed them. Default: never */
  readonly requireYoung?: () => void;
  /** Called after a commit. @param superseded paths of files that it superseded */
  settle(staged: readonly StagedSpan[], superseded: readonly string[]): Promise<void>;
  /** See {@link Store.clearSuperseded}. */
  clear(refresh: () => Promise<void>): Promise<number>;
  close(): Promise<void>;
}
