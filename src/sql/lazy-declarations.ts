import type { Database } from './database.ts';
import { textOf, tokensOf } from './tokens.ts';

/** A macro or view that can be created. */
export interface Declared<Sql extends string | Promise<string> = string | Promise<string>> {
  readonly name: string;
  /** SQL that is searched for the names of other declarations. */
  readonly body: string;
  /** The statement that creates or replaces it. */
  readonly statement: () => Sql;
  /** True to hide it from listings. */
  readonly isInner?: boolean;
}

/** Statements that may list objects, or compute their names at run time. */
const LISTING = /\b(show|pragma|information_schema|pg_catalog|duckdb_(?!log)\w+|sqlite_\w+)\b|\bquery(_table)?\s*\(/;
/** DESCRIBE without an argument lists all objects. The word also ends selects: ORDER BY x DESC. */
const DESCRIBE = /(^|[;(])desc(ribe)?(;|\)|$)/;

/** Paths of data files contain the names of tables. */
const PATH = /'[^']*\.parquet'/g;

/**
 * Creates macros and views when a statement first names them: creating all of them takes longer than most queries. Names are searched
 * as text, so some may be created needlessly.
 */
export class LazyDeclarations {
  readonly #database: Database;
  /** By lower-case name; each depends on earlier ones only. */
  readonly #known = new Map<string, Declared>();
  readonly #created = new Set<string>();

  constructor(database: Database, declared: readonly Declared[]) {
    this.#database = database;
    this.add(declared);
  }

  /** Adds or replaces declarations. They may depend on all earlier ones. */
  add(declared: readonly Declared[]): void {
    for (const each of declared) {
      const name = each.name.toLowerCase();
      this.#known.delete(name);
      this.#known.set(name, each);
    }
  }

  /** Creates everything that a statement names, then calls `work`; once more if DuckDB does not know a name. */
  async run<T>(statement: string, work: () => Promise<T>): Promise<T> {
    await this.#create(this.#named(statement));
    try {
      return await work();
    } catch (error) {
      // With everything created, DuckDB can suggest the closest name. The first of several statements must not run again.
      const isUnknown =
        error instanceof Error && error.message.startsWith('Catalog Error') && !/;\s*\S/.test(statement);
      const missing = [...this.#known]
        .filter(([name, { isInner }]) => isInner !== true && !this.#created.has(name))
        .map(([name]) => name);
      if (!isUnknown || missing.length === 0) throw error;
      await this.#create(missing);
      return work();
    }
  }

  /** Recreates outdated objects, if they were created. */
  async recreate(names: Iterable<string>): Promise<void> {
    await this.#create([...names].map((name) => name.toLowerCase()).filter((name) => this.#created.has(name)));
  }

  /** Names to create before a statement, with dependencies; all of them for a listing. */
  #named(statement: string): readonly string[] {
    let text = statement.toLowerCase().replace(PATH, '');
    const isListing = LISTING.test(text) || (text.includes('desc') && DESCRIBE.test(withoutSpaces(text)));
    const named: string[] = [];
    for (const [name, { body, isInner }] of [...this.#known].reverse()) {
      if (this.#created.has(name) || !((isListing && isInner !== true) || text.includes(name))) continue;
      named.unshift(name);
      text += `\n${body.toLowerCase()}`;
    }
    return named;
  }

  async #create(names: readonly string[]): Promise<void> {
    const statements: string[] = [];
    for (const name of names) {
      const statement = await this.#known.get(name)?.statement();
      if (statement !== undefined && statement !== '') statements.push(statement);
    }
    if (statements.length > 0) await this.#database.run(statements.join(';\n'));
    for (const name of names) this.#created.add(name);
  }
}

function withoutSpaces(sql: string): string {
  return textOf(tokensOf(sql).filter(({ kind }) => kind !== 'space'));
}
