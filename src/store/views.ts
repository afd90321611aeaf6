import PQueue from 'p-queue';
import type { TableDef, ViewDef } from '../declare/table.ts';
import { catalogViews, viewOf } from './catalog.ts';
import { Database } from './database.ts';
import { guarded } from './failure.ts';
import type { LedgerFolder } from './ledger.ts';
import { defineMacros } from './macros.ts';
import type { QueryResult } from './store.ts';

async function openWithMacros(settings: Readonly<Record<string, string>>): Promise<Database> {
  const database = await Database.open(':memory:', settings);
  await defineMacros(database);
  return database;
}

/** SQL over a Parquet warehouse, in memory: views that follow the ledger. */
export class WarehouseViews {
  readonly #path: string;
  readonly #ledger: LedgerFolder;
  readonly #tables: readonly TableDef[];
  readonly #settings: Readonly<Record<string, string>>;
  readonly #turns = new PQueue({ concurrency: 1 });
  #database: Database | undefined;
  #seen = -1;
  /** Views of tables that no query has named yet. */
  #undeclared: readonly ViewDef[];

  constructor(
    path: string,
    ledger: LedgerFolder,
    tables: readonly TableDef[],
    settings: Readonly<Record<string, string>>,
  ) {
    this.#path = path;
    this.#ledger = ledger;
    this.#tables = tables;
    this.#settings = settings;
    this.#undeclared = tables.flatMap(({ views }) => views);
  }

  async query(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<QueryResult> {
    return this.#turns.add(() =>
      guarded('query', async () => {
        this.#database ??= await openWithMacros(this.#settings);
        await this.#follow(this.#database);
        await this.#declare(this.#database, sql);
        return this.#database.query(sql, parameters);
      }),
    );
  }

  async close(): Promise<void> {
    await this.#turns.onIdle();
    this.#database?.close();
    this.#database = undefined;
  }

  /** Replaces the views of those tables that a commit has touched since. */
  async #follow(database: Database): Promise<void> {
    const { all } = this.#ledger.entries;
    if (this.#seen === all.length) return;
    const isFirst = this.#seen < 0;
    const fresh = all.slice(Math.max(this.#seen, 0));
    const superseded = new Set(fresh.flatMap(({ supersedes }) => supersedes));
    const touched = new Set(
      [...fresh, ...all.filter(({ id }) => superseded.has(id))].flatMap(({ tables }) => Object.keys(tables)),
    );
    const tables = this.#tables.filter(({ name }) => isFirst || touched.has(name));
    const views = catalogViews(this.#path, this.#ledger, tables);
    const seen = all.length;
    for (const view of views) await database.run(view);
    this.#seen = seen;
  }

  /** Makes the views of tables that a query names, or all for one that may list them: making each costs more than most queries. */
  async #declare(database: Database, sql: string): Promise<void> {
    const text = sql.toLowerCase();
    const isListing = /\b(show|describe|pragma|information_schema|duckdb_\w+)\b/.test(text);
    const named = this.#undeclared.filter(({ name }) => isListing || text.includes(name));
    if (named.length === 0) return;
    await database.run(named.map((view) => viewOf(view.name, view.sql)).join(';\n'));
    this.#undeclared = this.#undeclared.filter((view) => !named.includes(view));
  }
}
