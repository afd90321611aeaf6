import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { DamagedOptions, DamagedStore } from './damaged-store.ts';
import type { Declarations } from './ledger/declarations.ts';
import type { Reader, ReaderOptions } from './reader.ts';
import type { Store } from './store.ts';
import type { StoreOptions } from './store-options.ts';

/** One way to keep a warehouse. A store is a folder of `src/warehouse` that implements this; `store-kinds.ts` lists them. */
export interface StoreDriver {
  /** Opens a warehouse for writing, makes it where there is none, and clears what a killed run left. */
  openStore(options: StoreOptions): Promise<Store>;
  /** Opens a warehouse that lies at an absolute path for reading, and leaves nothing behind there. */
  openReader(path: string, tables: readonly TableDef[], options: ReaderOptions): Promise<Reader>;
  /** Reads the declarations stored in a warehouse at an absolute path. @returns undefined while nobody else may read it */
  useDeclarations<T>(path: string, use: (declarations: Declarations) => Promise<T>): Promise<T | undefined>;
  /** Opens whatever can be read of a warehouse that lies at an absolute path. `database` is in memory, and closed with the warehouse. */
  openDamaged(path: string, database: Database, options: DamagedOptions): Promise<DamagedStore>;
}
