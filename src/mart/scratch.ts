import type { TableDef } from '../declare/table.ts';
import type { Registry } from '../registry.ts';
import { COMMITS, commitsView } from '../store/catalog.ts';
import { Database } from '../store/database.ts';
import { declaredMacros } from '../store/macros.ts';
import { OnDemand } from '../store/ondemand.ts';
import { declaredViews, emptyView } from '../store/relation.ts';
import type { Query } from '../store/store.ts';

/** An empty database in which selects can be looked at: every declared table, some marts, and the ledger, without rows. */
export class Scratch {
  readonly #database: Database;
  readonly #declared: OnDemand;

  private constructor(database: Database, registry: Registry) {
    this.#database = database;
    const commits = { name: COMMITS, body: '', statement: () => commitsView([]) };
    this.#declared = new OnDemand(database, [...declaredMacros(), commits]);
    for (const table of registry.tables) this.declare(table);
  }

  static async open(registry: Registry): Promise<Scratch> {
    return new Scratch(await Database.open(':memory:', { threads: '1' }), registry);
  }

  /** Adds a table, or a mart that later ones may read. */
  declare(table: TableDef): void {
    this.#declared.add([{ name: table.name, body: '', statement: () => emptyView(table) }]);
  }

  /** Adds the views that come with declared tables. */
  declareViews(tables: readonly TableDef[]): void {
    this.#declared.add(declaredViews(tables));
  }

  readonly query: Query = (sql, parameters) => this.#declared.answer(sql, () => this.#database.query(sql, parameters));

  close(): void {
    this.#database.close();
  }
}
