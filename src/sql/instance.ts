import { Database } from './database.ts';

/** A connection to an instance, until it is given back. */
export interface Lent {
  readonly database: Database;
  readonly release: () => void;
}

/**
 * An instance of DuckDB that is opened when somebody needs it: each takes tens of milliseconds and megabytes, so that those who work on one
 * warehouse share it.
 */
export class Instance {
  readonly #settings: Readonly<Record<string, string>>;
  #database: Promise<Database> | undefined;
  /** Connections that were lent, or are being made. */
  #lent = 0;

  /** @param settings of DuckDB */
  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  /** A connection, for as long as its user needs it. */
  async lend(): Promise<Lent> {
    this.#lent++;
    try {
      this.#database ??= Database.open(':memory:', this.#settings);
      const database = await (await this.#database).connect();
      const release = (): void => {
        database.disconnect();
        this.#lent--;
      };
      return { database, release };
    } catch (error) {
      this.#lent--;
      throw error;
    }
  }

  /** Does `work` on a connection of its own. */
  async use<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { database, release } = await this.lend();
    try {
      return await work(database);
    } finally {
      release();
    }
  }

  /** Closes the instance unless a connection is lent. The next one opens another. */
  async closeIdle(): Promise<void> {
    if (this.#lent === 0) await this.close();
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    // The caller already got the open error.
    (await database?.catch(() => undefined))?.close();
  }
}
