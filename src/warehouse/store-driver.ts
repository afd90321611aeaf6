import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import type { Declarations } from './ledger/declarations.ts';
import type { Reader, ReaderOptions } from './reader.ts';
import type { StoreOptions } from './store-options.ts';
import type { Writer } from './writer.ts';

/** Returns the tables of a warehouse that is being opened, from its stored declarations. */
export type TablesOf = (declarations: Declarations) => Promise<readonly TableDef[]>;

/** The interface of a kind of store. Each kind is a folder of `src/warehouse`; `store-kinds.ts` lists them. */
export interface StoreDriver {
  /** Opens the warehouse at an absolute path or URL for writing. Creates it if it does not exist, and removes what a killed run left. */
  openWriter(path: string, options: StoreOptions): Promise<Writer>;
  /** Opens the warehouse at an absolute path for reading, and writes nothing there. */
  openReader(path: string, tables: TablesOf, options: ReaderOptions): Promise<Reader>;
  /** Reads the declarations stored in the warehouse at an absolute path. @returns undefined while a writer locks out readers */
  useDeclarations<T>(path: string, use: (declarations: Declarations) => Promise<T>): Promise<T | undefined>;
  /** Opens a possibly damaged warehouse at an absolute path. @param database in memory; closed with the warehouse */
  openDamaged(path: string, database: Database, options: DamagedOptions): Promise<DamagedStore>;
}
