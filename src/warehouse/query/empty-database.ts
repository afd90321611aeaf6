import type { Registry } from '../../declare/registry.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Database, ScalarFunction } from '../../sql/database.ts';
import { Instance } from '../../sql/instance.ts';
import { LazyDeclarations } from '../../sql/lazy-declarations.ts';
import type { Parameters } from '../../sql/parameters.ts';
import type { Query } from '../../sql/query-result.ts';
import { declaredTon, TON, tonViews } from '../../sql/ton-views.ts';
import { declaredMacros, macrosOf, trinoFunctionMacros } from '../relations/macros.ts';
import { roleViews } from '../relations/role-views.ts';
import { declaredViews } from '../relations/table-relation.ts';
import type { DayTime } from './day-times.ts';
import { emptyTable, type Mirror, type Scan, scansIn } from './scans.ts';
import { emptyRelations } from './state-relations.ts';

const SETTINGS = {
  threads: '1',
  // What a plan shows must not be derived from the statistics of empty tables.
  disabled_optimizers: 'statistics_propagation',
  // A select on which DuckDB fails must not end the plans of others.
  disable_database_invalidation: 'true',
  // Planning computes constants, however large.
  memory_limit: '256MB',
  lock_configuration: 'true',
};

/** Instances of the empty databases of this process. They stay open, with 3 MB each, because opening one takes 20 ms of CPU time. */
const withFiles = new Instance(SETTINGS);
const withoutFiles = new Instance({ ...SETTINGS, enable_external_access: 'false' });
let opened = 0;

/** A database in which selects are planned: every declared table, some marts, and the ledger, without rows. */
export class EmptyDatabase {
  readonly #database: Database;
  readonly #leave: (hasFunctions: boolean) => Promise<void>;
  readonly #declared: LazyDeclarations;
  readonly #tables: Map<string, TableDef>;
  readonly #variables = new Set<string>();
  readonly #mirror: Mirror;
  #hasFunctions = false;
  #closing: Promise<void> | undefined;

  private constructor(database: Database, registry: Registry, leave: (hasFunctions: boolean) => Promise<void>) {
    this.#database = database;
    this.#leave = leave;
    this.#declared = new LazyDeclarations(database, [
      ...declaredMacros(),
      ...trinoFunctionMacros(),
      ...emptyRelations(),
    ]);
    this.#tables = new Map();
    this.#mirror = {
      database,
      prepare: (statement) => this.#declared.run(statement, async () => {}),
      table: (name) => this.#tables.get(name),
      variables: this.#variables,
      made: {},
    };
    this.#add(registry.tables);
    this.#declared.add(roleViews(registry.tables));
  }

  /** @param readsFiles true if selects may name files of this machine */
  static async open(registry: Registry, { readsFiles = true } = {}): Promise<EmptyDatabase> {
    const instance = readsFiles ? withFiles : withoutFiles;
    const { database, release } = await instance.connect();
    const name = `empty_${++opened}`;
    await database.run(`ATTACH ':memory:' AS ${name}; USE ${name}`);
    return new EmptyDatabase(database, registry, async (hasFunctions) => {
      release();
      await instance.use((other) => other.run(`DETACH ${name}`));
      // Functions stay in an instance.
      if (hasFunctions) await instance.closeIdle();
    });
  }

  /** Adds a table, or a mart that later ones may read. */
  declare(table: TableDef): void {
    this.#add([table]);
  }

  #add(tables: readonly TableDef[]): void {
    for (const table of tables) this.#tables.set(table.name, table);
    this.#declared.add(tables.map((table) => ({ name: table.name, body: '', statement: () => emptyTable(table) })));
    this.#declared.add(declaredTon([...this.#tables.values()], true));
  }

  /** Adds marts that were built meanwhile, so that the views of `ton` read them. */
  async declareBuilt(tables: readonly TableDef[]): Promise<void> {
    const fresh = tables.filter(({ name }) => !this.#tables.has(name));
    if (fresh.length === 0) return;
    this.#add(fresh);
    await this.#declared.recreate(tonViews().map(({ name }) => `${TON}.${name}`));
  }

  /** Adds the views that come with declared tables. */
  declareViews(tables: readonly TableDef[]): void {
    this.#declared.add(declaredViews(tables));
  }

  /** Defines functions that selects may call. */
  define(functions: readonly ScalarFunction[]): Promise<void> {
    this.#hasFunctions ||= functions.length > 0;
    return this.#database.define(functions);
  }

  /** Gives a variable the value that later selects will find: SQL of a constant. */
  async setVariable(name: string, value: string): Promise<void> {
    await this.#database.run(`SET VARIABLE ${quoteName(name)} = ${value}`);
    this.#variables.add(name.toLowerCase());
  }

  readonly query: Query = (sql, parameters) => this.#declared.run(sql, () => this.#database.query(sql, parameters));

  /** {@link scansIn} of this database. */
  async scans(
    sql: string,
    parameters?: Parameters,
    readTimes?: () => Promise<readonly DayTime[]>,
  ): Promise<readonly Scan[]> {
    return scansIn(this.#mirror, sql, parameters, readTimes);
  }

  /** The definitions of the macros that a select calls, and of those that they call. */
  macrosIn(sql: string): readonly string[] {
    return macrosOf(sql);
  }

  /** Cancels the plan that is being made. */
  interrupt(): void {
    this.#database.interrupt();
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave(this.#hasFunctions);
    return this.#closing;
  }
}
