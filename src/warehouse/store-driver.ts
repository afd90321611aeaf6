import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import type { Declarations } from './ledger/declarations.ts';
import type { Reader, ReaderOptions } from './reader.ts';
import type { StoreOptions } from './store-options.ts';
import type { Writer } from './writer.ts';

/** The tables of a warehouse that is being opened, by the declarations that are stored in it. */
export type TablesOf = (declarations: Declarations) => Promise<readonly TableDef[]>;

/** What a kind of store has to implement. Each is a folder of `src/warehouse`; `store-kinds.ts` lists them. */
export interface StoreDriver {
  /** Opens the warehouse at an absolute path or an address for writing, creates it if there is none, and removes what a killed run left. */
  openWriter(path: string, options: StoreOptions): Promise<Writer>;
  /** Opens the warehouse at an absolute path for reading, and writes nothing there. */
  openReader(path: string, tables: TablesOf, options: ReaderOptions): Promise<Reader>;
  /** Reads the declarations stored in the warehouse at an absolute path. @returns undefined while a writer locks out readers */
  useDeclarations<T>(path: string, use: (declarations: Declarations) => Promise<T>): Promise<T | undefined>;
  /** Opens whatever can be read of the warehouse at an absolute path. `database` is in memory, and closed with the warehouse. */
  openDamaged(path: string, database: Database, options: DamagedOptions): Promise<DamagedStore>;
}
