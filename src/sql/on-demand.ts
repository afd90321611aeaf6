import { COMMENT } from './comments.ts';
import type { Database } from './database.ts';

/** A macro or view that can be created. */
export interface Declared<Sql extends string | Promise<string> = string | Promise<string>> {
  readonly name: string;
  /** Its SQL, which is searched for the names of others. */
  readonly body: string;
  /** The statement that creates or replaces it. */
  readonly statement: () => Sql;
  /** True if only tonlake uses it: listings do not show it. */
  readonly isInner?: boolean;
}

/** Statements that may list objects, or name them by a text computed at run time. A log of DuckDB has none. */
const LISTING = /\b(show|pragma|information_schema|pg_catalog|duckdb_(?!log)\w+|sqlite_\w+)\b|\bquery(_table)?\s*\(/;
/** DESCRIBE of nothing lists all; the same word ends many a select: ORDER BY x DESC. */
const DESCRIBE = /(^|[;(])\s*desc(ribe)?\s*(;|\)|$)/;
const COMMENTS = new RegExp(COMMENT, 'g');

/** The path of a data file, which names its table. */
const PATH = /'[^']*\.parquet'/g;

/**
 * Creates macros and views when a statement first names them: creating all of them takes longer than most queries. Names are searched
 * as text, so some may be created needlessly.
 */
export class OnDemand {
  readonly #database: Database;
  /** By lower-case name, as DuckDB compares names; each depends on earlier ones only. */
  readonly #known = new Map<string, Declared>();
  readonly #made = new Set<string>();

  constructor(database: Database, declared: readonly Declared[]) {
    this.#database = database;
    this.add(declared);
  }

  /** Adds declarations, which may depend on all that are known; a known name is replaced. */
  add(declared: readonly Declared[]): void {
    for (const each of declared) {
      const name = each.name.toLowerCase();
      this.#known.delete(name);
      this.#known.set(name, each);
    }
  }

  /** Creates everything that a statement names, then runs it. */
  async answer<T>(statement: string, ask: () => Promise<T>): Promise<T> {
    await this.#run(this.#named(statement));
    try {
      return await ask();
    } catch (error) {
      // With everything created, DuckDB can suggest the closest name. The first of several statements must not run again.
      const isUnknown =
        error instanceof Error && error.message.startsWith('Catalog Error') && !/;\s*\S/.test(statement);
      const missing = [...this.#known]
        .filter(([name, { isInner }]) => isInner !== true && !this.#made.has(name))
        .map(([name]) => name);
      if (!isUnknown || missing.length === 0) throw error;
      await this.#run(missing);
      return ask();
    }
  }

  /** Recreates those of the names that exist, because they are outdated. */
  async remake(names: Iterable<string>): Promise<void> {
    await this.#run([...names].map((name) => name.toLowerCase()).filter((name) => this.#made.has(name)));
  }

  /** Names to create before a statement, with dependencies; all of them for a listing. */
  #named(statement: string): readonly string[] {
    let text = statement.toLowerCase().replace(PATH, '');
    const isListing = LISTING.test(text) || DESCRIBE.test(text.replace(COMMENTS, ' '));
    const named: string[] = [];
    for (const [name, { body, isInner }] of [...this.#known].reverse()) {
      if (this.#made.has(name) || !((isListing && isInner !== true) || text.includes(name))) continue;
      named.unshift(name);
      text += `\n${body.toLowerCase()}`;
    }
    return named;
  }

  async #run(names: readonly string[]): Promise<void> {
    const statements: string[] = [];
    for (const name of names) {
      const statement = await this.#known.get(name)?.statement();
      if (statement !== undefined && statement !== '') statements.push(statement);
    }
    if (statements.length > 0) await this.#database.run(statements.join(';\n'));
    for (const name of names) this.#made.add(name);
  }
}
