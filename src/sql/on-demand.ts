import type { Database } from './database.ts';

/** A macro or a view that can be made. */
export interface Declared {
  readonly name: string;
  /** SQL of what it stands on: names of others are looked for in it. */
  readonly body: string;
  /** The statement that makes it, or makes it anew. */
  readonly statement: () => string;
  /** Whether only tonlake itself names it: a statement that lists what there is does not show it. */
  readonly isInner?: boolean;
}

/** Statements that may list what there is, or name it by a text that is made while they run. */
const LISTING =
  /\b(show|pragma|information_schema|pg_catalog|duckdb_\w+|sqlite_\w+|query|query_table)\b|\bdesc(ribe)?\s*(;|--|\/\*|$)/;

/**
 * Makes macros and views in a database when a statement first names them: making all of them takes longer than most queries.
 * A name is looked for as a text, so more may be made than is meant.
 */
export class OnDemand {
  readonly #database: Database;
  /** By name in lower case, as DuckDB compares names; each stands on earlier ones only. */
  readonly #known = new Map<string, Declared>();
  readonly #made = new Set<string>();

  constructor(database: Database, declared: readonly Declared[]) {
    this.#database = database;
    this.add(declared);
  }

  /** Later ones; one whose name is known takes the place of that. */
  add(declared: readonly Declared[]): void {
    for (const each of declared) this.#known.set(each.name.toLowerCase(), each);
  }

  /** The answer to a statement, of which everything that it names is made before. */
  async answer<T>(statement: string, ask: () => Promise<T>): Promise<T> {
    await this.#run(this.#named(statement));
    try {
      return await ask();
    } catch (error) {
      // With everything made DuckDB knows which name is the nearest. The first of several statements must not be run again.
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

  /** Makes those anew of these names that were made before: what stood for them is not true any more. */
  async remake(names: Iterable<string>): Promise<void> {
    await this.#run([...names].map((name) => name.toLowerCase()).filter((name) => this.#made.has(name)));
  }

  /** What a statement, and what that stands on, names and is not made yet; all for one that may list it. */
  #named(statement: string): readonly string[] {
    let text = statement.toLowerCase();
    const isListing = LISTING.test(text);
    const named: string[] = [];
    for (const [name, { body, isInner }] of [...this.#known].reverse()) {
      if (this.#made.has(name) || !((isListing && isInner !== true) || text.includes(name))) continue;
      named.unshift(name);
      text += `\n${body.toLowerCase()}`;
    }
    return named;
  }

  async #run(names: readonly string[]): Promise<void> {
    const statements = names.flatMap((name) => this.#known.get(name)?.statement() ?? []);
    if (statements.length > 0) await this.#database.run(statements.join(';\n'));
    for (const name of names) this.#made.add(name);
  }
}
