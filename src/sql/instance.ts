import { Database } from './database.ts';

/** A connection to a shared instance. */
export interface InstanceConnection {
  readonly database: Database;
  readonly release: () => void;
}

/** A DuckDB instance that is opened when first needed, and shared: each takes tens of milliseconds and megabytes. */
export class Instance {
  readonly #settings: Readonly<Record<string, string>>;
  #database: Promise<Database> | undefined;
  /** Connections that are open or being opened. */
  #open = 0;

  /** @param settings of DuckDB */
  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  /** Opens a connection; the caller releases it. */
  async connect(): Promise<InstanceConnection> {
    this.#open++;
    try {
      this.#database ??= Database.open(':memory:', this.#settings);
      const database = await (await this.#database).connect();
      const release = (): void => {
        database.disconnect();
        this.#open--;
      };
      return { database, release };
    } catch (error) {
      this.#open--;
      throw error;
    }
  }

  /** Calls `work` with a new connection, and releases it. */
  async use<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { database, release } = await this.connect();
    try {
      return await work(database);
    } finally {
      release();
    }
  }

  /** Closes the instance if no connection is open. The next connection opens another. */
  async closeIdle(): Promise<void> {
    if (this.#open === 0) await this.close();
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    // The caller already got the open error.
    (await database?.catch(() => undefined))?.close();
  }
}
