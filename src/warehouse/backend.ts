import type { Effects } from '../core/effects.ts';
import type { FileSum, WarehouseObjects } from '../objects/object-store.ts';
import type { Database, Relocation } from '../sql/database.ts';
import type { Traffic } from '../sql/http-traffic.ts';
import type { Instance } from '../sql/instance.ts';
import type { LedgerFolder } from './ledger/ledger-folder.ts';
import type { PathOf } from './parquet-store/entry-files.ts';
import type { ReaderOptions } from './reader.ts';
import type { ViewsOptions } from './relations/warehouse-views.ts';
import type { StagedFile, StagedSpan, TableFile } from './store.ts';
import type { StoreOptions } from './store-options.ts';
import type { Writer } from './writer.ts';

/** A place that holds a warehouse of Parquet files: all that a folder and an object store do in different ways. The rest is written once. */
export interface Backend {
  /** Absolute path, or `s3://bucket/prefix`. */
  readonly path: string;
  /** True if any number of processes write at the same time; otherwise one does, with the lock. */
  readonly isShared: boolean;
  /** Identity, ledger, schemas, declarations and checkpoints; marks and metadata of publications. */
  readonly objects: WarehouseObjects;
  /** The ledger, not read yet. */
  ledger(): LedgerFolder;
  /** Takes the lock, if there is one. @throws {StoreError} `busy` */
  lock(command: string, effects: Effects): Promise<{ release(): Promise<void> }>;

  /** Where DuckDB reads a data file. */
  readonly pathOf: PathOf;
  /** Finds data files that were superseded while a statement ran. Default: they stay where they are. */
  readonly relocation?: Relocation | undefined;
  /** Lets databases read data files. Called before each query: credentials may have been renewed. */
  access(): (database: Database) => Promise<void>;
  /** How readers query data files. */
  openReads(options: ReaderOptions): Reads;
  /** How a writer places what it commits, and queries beside commits. */
  openWrites(ledger: LedgerFolder, options: StoreOptions): Promise<Writes>;
  /** Size of a data file in force; undefined if there is none. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Size and checksum of a data file as it is; undefined if there is none. */
  sumOf(path: string): Promise<FileSum | undefined>;
  /** A local file with the bytes of a data file: `to` if it had to be fetched; undefined if there is none. */
  download(path: string, to: string): Promise<{ readonly local: string; readonly sum: FileSum } | undefined>;
  /** Puts a data file that no entry names yet. @throws {StoreError} `damaged` */
  put(file: TableFile, local: string): Promise<void>;
  /** Tries whether the place can be written as commits need it. @throws {StoreError} `no-conditions` */
  requireWritable(effects: Effects): Promise<void>;
  /** Tries whether DuckDB can read its files. @throws {StoreError} `no-extension` */
  requireQueries(): Promise<void>;

  /** Brings data files in force back that lie where superseded ones do. Default: these stay where they are. */
  readonly bringBack?: ((paths: readonly string[]) => Promise<void>) | undefined;
  /** The name of a data file that stays when it is superseded; see `keep`. */
  lastingOf(path: string): string;
  /** Makes sure that files are there, under their lasting names. @throws {StoreError} `no-links`, `bad-ledger` */
  keep(files: readonly TableFile[]): Promise<void>;
}

/** How a reader queries data files. */
export interface Reads extends Pick<ViewsOptions, 'instance' | 'prepare' | 'scans'> {
  /** Requests for the ledger since the last call; those for rows are counted, too. Default: nothing is counted. */
  readonly takeLedgerTraffic?: (() => Traffic) | undefined;
  close(): Promise<void>;
}

/** How a writer places what it commits. */
export interface Writes {
  /** Folder of staged files. */
  readonly stagingPath: string;
  /** For the files of stages. */
  readonly instance: Instance;
  /** Where this writer reads a data file: maybe a copy on this machine. */
  readonly pathOf: PathOf;
  readonly stage?: Writer['stage'];
  /** How the writer's own queries are answered; or, with a name for its instance, those beside them. */
  openReads(beside?: string): Reads;
  /** Runs a query: what it may read stays as long. */
  readBy<T>(query: () => Promise<T>): Promise<T>;
  /** Removes what killed writers left. @param refresh reads what other writers have committed */
  open(isNew: boolean, refresh: () => Promise<void>): Promise<void>;
  /** Puts data files that no entry names yet, durably. */
  place(files: readonly StagedFile[]): Promise<void>;
  /** @throws {StoreError} `too-late` if what was placed is so old that it may be collected as garbage. Default: never */
  readonly requireYoung?: () => void;
  /** After a commit. @param left paths of files that it superseded */
  settle(staged: readonly StagedSpan[], left: readonly string[]): Promise<void>;
  /** As `clearSuperseded` of a store. */
  clear(refresh: () => Promise<void>): Promise<number>;
  close(): Promise<void>;
}
