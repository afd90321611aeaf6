import PQueue from 'p-queue';
import { StoreError } from '../../core/errors.ts';
import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Confinement } from '../../sql/confined-sql.ts';
import type { Database, Relocation, ScalarFunction } from '../../sql/database.ts';
import type { Instance, InstanceConnection } from '../../sql/instance.ts';
import { lakeFiles } from '../../sql/lake-files.ts';
import { type Declared, LazyDeclarations } from '../../sql/lazy-declarations.ts';
import type { Query, Stream } from '../../sql/query-result.ts';
import { declaredTon } from '../../sql/ton-views.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { type EntryGroup, groupFiles, type PathOf } from '../parquet-store/entry-files.ts';
import type { LedgerEntry } from '../store.ts';
import { COMMITS, commits, commitsView } from './commits-view.ts';
import { declaredMacros, trinoFunctionMacros } from './macros.ts';
import { martsIn } from './mart-views.ts';
import { roleViews } from './role-views.ts';
import { ASKS_COMMENTS, commentsOn } from './table-comments.ts';
import { declaredViews, type FileGroup, selectFiles, viewOf } from './table-relation.ts';

export interface ViewsOptions {
  /** Path or URL of the warehouse, for messages. */
  readonly path: string;
  readonly ledger: LedgerFolder;
  readonly tables: readonly TableDef[];
  readonly pathOf: PathOf;
  /** Finds files that moved because they were superseded while a query ran. Default: they do not move. */
  readonly relocation?: Relocation | undefined;
  /** The instance that runs queries; the caller closes it. */
  readonly instance: Instance;
  /** Queries can read only the warehouse. Default: unconfined. */
  readonly confinement?: Confinement | undefined;
  /** A query that exceeds the memory limit is retried with 2 GB. Default: it fails. */
  readonly isWidened?: boolean | undefined;
  /** Awaited before each query, before the views are updated; only once if they are confined. Default: nothing. */
  readonly prepare?: ((database: Database) => Promise<void>) | undefined;
  /** Default: `read_parquet` of the paths. */
  readonly scans?: TableScans | undefined;
}

/** A way to read the files of tables. */
export interface TableScans {
  /** Loads everything that scans need, because a confined connection can load nothing later. @returns folders that scans read */
  confine(database: Database): Promise<readonly string[]>;
  /** SQL that reads a group's columns, for FROM; undefined for `read_parquet` of its paths. Called when a view is created. */
  scanOf(database: Database, table: TableDef, group: EntryGroup): Promise<string | undefined>;
}

/** SQL over a Parquet warehouse, in memory: views that follow the ledger. */
export class WarehouseViews {
  readonly #options: ViewsOptions;
  readonly #ledger: LedgerFolder;
  readonly #tables: readonly TableDef[];
  readonly #turns = new PQueue({ concurrency: 1 });
  #connection: InstanceConnection | undefined;
  #declared: LazyDeclarations | undefined;
  #isClosed = false;
  /** Number of the last entry that the views include. */
  #seen = 0;
  /** Bodies of the views of `ton` by name. One that reads a mart is empty until the mart is built. */
  #ton: ReadonlyMap<string, string> = new Map();
  /** Entries in force at that number: all views that a query reads show the same state, even if the ledger advances. */
  #entries: readonly LedgerEntry[] = [];

  constructor(options: ViewsOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
    this.#tables = options.tables;
  }

  readonly query: Query = (sql, parameters) => this.#answer(sql, (database) => database.query(sql, parameters));

  readonly stream: Stream = (sql, parameters, use) =>
    this.#answer(sql, (database) => database.stream(sql, parameters, use));

  #answer<T>(sql: string, ask: (database: Database) => Promise<T>): Promise<T> {
    return this.#turns.add(() =>
      guarded('query', async () => {
        if (this.#isClosed) throw closedError(this.#options.path);
        const { database } = await this.#connect();
        if (this.#options.confinement === undefined) await this.#options.prepare?.(database);
        this.#declared ??= this.#declare(database);
        await this.#follow(database, this.#declared);
        return this.#declared.run(sql, async () => {
          if (ASKS_COMMENTS.test(sql)) {
            const commented = [commits, ...this.#tables, ...martsIn(this.#ledger)];
            await database.run(commented.flatMap((each) => commentsOn(each)).join(';\n'));
          }
          const read = () => database.transaction(() => ask(database), 'READ ONLY');
          return this.#options.isWidened === true ? database.withMemory(read) : read();
        });
      }),
    );
  }

  requireQuery(statement: string): Promise<void> {
    return this.#answer(statement, (database) => database.requireQuery(statement));
  }

  /** Lets queries call functions. */
  define(functions: readonly ScalarFunction[]): Promise<void> {
    return this.#turns.add(async () => {
      if (this.#connection === undefined && functions.length === 0) return;
      await (await this.#connect(functions)).database.define(functions);
    });
  }

  /** @param functions to be defined before the connection is confined */
  async #connect(functions: readonly ScalarFunction[] = []): Promise<InstanceConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const { instance, confinement, prepare, scans, path } = this.#options;
    const connection = await instance.connect();
    this.#connection = connection;
    if (confinement === undefined) return connection;
    // A confined connection can load nothing.
    await prepare?.(connection.database);
    const folders = await scans?.confine(connection.database);
    await connection.database.define(functions);
    await connection.database.confine([path, ...(folders ?? [])], confinement);
    return connection;
  }

  /** Cancels the running query. */
  interrupt(): void {
    this.#connection?.database.interrupt();
  }

  /** Runs `work` after all earlier queries. @returns undefined if there was none yet */
  withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T | undefined> {
    return this.#turns.add(async () => (this.#connection === undefined ? undefined : work(this.#connection.database)));
  }

  /** Waits for running queries, and refuses later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.onIdle();
    this.#giveBack();
  }

  /** Releases the connection unless a query runs. The next query opens one, with new views. */
  closeIdle(): void {
    if (this.#turns.size + this.#turns.pending === 0) this.#giveBack();
  }

  #giveBack(): void {
    this.#connection?.release();
    this.#connection = undefined;
    this.#declared = undefined;
    this.#ton = new Map();
    this.#seen = 0;
  }

  #views(database: Database, tables: readonly TableDef[]): readonly Declared[] {
    return tables.map((table) => ({
      name: table.name,
      body: '',
      statement: () => this.#view(database, table),
    }));
  }

  async #view(database: Database, table: TableDef): Promise<string> {
    const { pathOf, scans } = this.#options;
    const groups: FileGroup[] = [];
    for (const group of groupFiles(pathOf, this.#ledger, table.name, this.#entries)) {
      groups.push({ ...group, scan: await scans?.scanOf(database, table, group) });
    }
    return viewOf(quoteName(table.name), selectFiles(table, groups));
  }

  #declare(database: Database): LazyDeclarations {
    const { relocation } = this.#options;
    const declared = new LazyDeclarations(database, [
      ...declaredMacros(),
      ...trinoFunctionMacros(),
      { name: COMMITS, body: '', statement: () => commitsView(this.#entries) },
      ...this.#views(database, this.#tables),
      ...lakeFiles(),
      ...declaredViews(this.#tables),
      ...roleViews(this.#tables),
    ]);
    if (relocation === undefined) return declared;
    database.relocateWith({
      hasMoved: relocation.hasMoved,
      relocate: async (sql) => {
        // The views name the paths that the files had when the views were created.
        await declared.recreate([...this.#tables, ...martsIn(this.#ledger)].map(({ name }) => name));
        return relocation.relocate(sql);
      },
    });
    return declared;
  }

  /** Replaces the views of tables that commits have changed. */
  async #follow(database: Database, declared: LazyDeclarations): Promise<void> {
    const { entries } = this.#ledger;
    const seen = entries.lastNumber;
    if (this.#seen === seen) return;
    const marts = martsIn(this.#ledger);
    const ton = declaredTon([...this.#tables, ...marts]);
    const filled = ton.filter(({ name, body }) => this.#ton.get(name) !== body).map(({ name }) => name);
    declared.add(this.#views(database, marts));
    declared.add(ton);
    const outdated = [...entries.tablesSince(this.#seen), COMMITS, ...filled];
    this.#entries = entries.effective;
    await declared.recreate(outdated);
    this.#ton = new Map(ton.map(({ name, body }) => [name, body]));
    this.#seen = seen;
  }
}

function closedError(path: string): StoreError {
  return new StoreError(`store: warehouse ${path} is closed`, { code: 'closed' });
}
