import type { Registry } from '../../declare/registry.ts';
import type { TableDef } from '../../declare/table.ts';
import { Database } from '../../sql/database.ts';
import { OnDemand } from '../../sql/on-demand.ts';
import type { Query } from '../../sql/query-result.ts';
import { declaredTon } from '../../sql/ton-views.ts';
import { COMMITS, commitsView } from '../relations/commits-view.ts';
import { declaredMacros, macrosOf } from '../relations/macros.ts';
import { roleViews } from '../relations/role-views.ts';
import { declaredViews, emptyView } from '../relations/table-relation.ts';
import { FORGOTTEN_DAYS, forgottenDays } from './forgotten-days.ts';

/** An empty database in which selects can be looked at: every declared table, some marts, and the ledger, without rows. */
export class EmptyDatabase {
  readonly #database: Database;
  readonly #declared: OnDemand;
  readonly #tables: TableDef[];

  private constructor(database: Database, registry: Registry) {
    this.#database = database;
    const commits = { name: COMMITS, body: '', statement: () => commitsView([]) };
    const days = `CREATE VIEW ${FORGOTTEN_DAYS} AS ${forgottenDays([])}`;
    const forgotten = { name: FORGOTTEN_DAYS, body: '', statement: () => days };
    this.#declared = new OnDemand(database, [...declaredMacros(), commits, forgotten]);
    this.#tables = [...registry.tables];
    this.#declared.add(
      registry.tables.map((table) => ({ name: table.name, body: '', statement: () => emptyView(table) })),
    );
    this.#declared.add([...declaredTon(registry.tables), ...roleViews(registry.tables)]);
  }

  static async open(registry: Registry): Promise<EmptyDatabase> {
    return new EmptyDatabase(await Database.open(':memory:', { threads: '1' }), registry);
  }

  /** Adds a table, or a mart that later ones may read. */
  declare(table: TableDef): void {
    this.#tables.push(table);
    this.#declared.add([{ name: table.name, body: '', statement: () => emptyView(table) }]);
    this.#declared.add(declaredTon(this.#tables));
  }

  /** Adds the views that come with declared tables. */
  declareViews(tables: readonly TableDef[]): void {
    this.#declared.add(declaredViews(tables));
  }

  readonly query: Query = (sql, parameters) => this.#declared.answer(sql, () => this.#database.query(sql, parameters));

  /** The definitions of the macros that a select calls, and of those that they call. */
  macrosIn(sql: string): readonly string[] {
    return macrosOf(sql);
  }

  close(): void {
    this.#database.close();
  }
}
