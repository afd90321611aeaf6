import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import type { Declarations } from './ledger/declarations.ts';
import type { Reader, ReaderOptions } from './reader.ts';
import type { StoreOptions } from './store-options.ts';
import type { Writer } from './writer.ts';

/** Returns the tables of a warehouse that is being opened, from its stored declarations. */
export type TablesOf = (declarations: Declarations) => Promise<readonly TableDef[]>;

/** What a warehouse stores about itself beside its ledger. */
export interface Described {
  /** @throws {StoreError} `no-warehouse` if nothing says that there is one */
  readonly network: () => Promise<string>;
  readonly declarations: Declarations;
}

/** The interface of a kind of store. Each kind is a folder of `src/warehouse`; `store-kinds.ts` lists them. */
export interface StoreDriver {
  /** Opens the warehouse at an absolute path or URL for writing. Creates it if it does not exist, and removes what a killed run left. */
  openWriter(path: string, options: StoreOptions): Promise<Writer>;
  /** Opens the warehouse at an absolute path for reading, and writes nothing there. */
  openReader(path: string, tables: TablesOf, options: ReaderOptions): Promise<Reader>;
  /** Reads what the warehouse at an absolute path is, without its ledger. @throws {StoreError} `busy` while a writer locks out readers */
  describe<T>(path: string, use: (described: Described) => Promise<T>): Promise<T>;
  /** Opens a possibly damaged warehouse at an absolute path. @param database in memory; closed with the warehouse */
  openDamaged(path: string, database: Database, options: DamagedOptions): Promise<DamagedStore>;
}
