import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256Of } from '../../core/sha256.ts';
import type { TableDef } from '../../declare/table.ts';
import { stateOf, statIfAny, syncPath } from '../../files/disk.ts';
import { Database } from '../../sql/database.ts';
import { declaredTon, tonViews } from '../../sql/ton-views.ts';
import { copyEmptyFile, keepEmptyFile } from '../empty-files.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { commitsView } from '../relations/commits-view.ts';
import { declaredMacros } from '../relations/macros.ts';
import { martsIn } from '../relations/mart-views.ts';
import { commentsOn, viewComments } from '../relations/table-comments.ts';
import {
  declaredViews,
  emptyView,
  readBeside,
  type readFiles,
  selectFiles,
  viewOf,
} from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import { groupFiles, type PathOf, pathsIn } from './entry-files.ts';

/** SQL for the view of a table or mart over its files in force. */
function tableView(pathOf: PathOf, ledger: LedgerFolder, table: TableDef, read: typeof readFiles): string {
  return viewOf(table.name, selectFiles(table, groupFiles(pathOf, ledger, table.name), read));
}

/**
 * The catalog of a warehouse, for its writer: a DuckDB file with macros and views, which any DuckDB can open, wherever the warehouse is
 * moved or mounted.
 */
export class Catalog {
  readonly #warehouse: string;
  readonly #ledger: LedgerFolder;
  readonly #tables: readonly TableDef[];
  /** A staged file, kept open, because each catalog differs from the one before only in the views of a few tables. */
  #draft: Database | undefined;
  #isWriting = false;
  /** State of the catalog that the next draft may be a copy of. */
  #current: string | undefined;
  /** Number of the last entry that the draft includes, or will when it is made of the catalog that is there. */
  #seen = 0;
  /** Tables with rows, whose declared views the draft has. */
  #held = new Set<string>();

  constructor(warehouse: string, ledger: LedgerFolder, tables: readonly TableDef[]) {
    this.#warehouse = warehouse;
    this.#ledger = ledger;
    this.#tables = tables;
  }

  /** True if the catalog shows what is committed, so that opening need not write it again. Later ones start from it. */
  async isCurrent(): Promise<boolean> {
    const { catalog, catalogStamp } = layoutOf(this.#warehouse);
    if ((await statIfAny(`${catalog}.wal`)) !== undefined) return false;
    const isCurrent = (await readFile(catalogStamp, 'utf8').catch(() => '')) === (await this.#stamp());
    if (isCurrent) {
      this.#seen = this.#ledger.entries.lastNumber;
      this.#held = this.#tablesInForce();
      this.#current = stateOf(catalog);
    }
    return isCurrent;
  }

  /** Replaces the catalog by one of what is committed now, atomically. Open readers keep the old one. */
  async write(): Promise<void> {
    const { stage, catalog } = layoutOf(this.#warehouse);
    const [draft, staged] = [join(stage, 'catalog-draft.duckdb'), join(stage, 'catalog.duckdb')];
    const { entries } = this.#ledger;
    this.#isWriting = true;
    try {
      const database = await this.#openDraft(draft);
      const seen = entries.lastNumber;
      if (this.#seen === 0 || seen !== this.#seen) {
        // Made before the next await, so that all views show the same commits.
        const statements = this.#statements();
        await database.transaction(() => database.run(statements.join(';\n')));
        await database.run('CHECKPOINT');
        this.#seen = seen;
      }
      await copyFile(draft, staged);
      await syncPath(staged);
      // A log next to the old catalog was written by another program's session, and does not fit the new one.
      await rm(`${catalog}.wal`, { force: true });
      await rename(staged, catalog);
      this.#current = stateOf(catalog);
      await syncPath(this.#warehouse);
      // Without a stamp, the catalog is only written once more.
      await this.#writeStamp().catch(() => {});
    } catch (error) {
      await this.#discard(draft);
      throw error;
    } finally {
      this.#isWriting = false;
    }
  }

  /** The draft: a copy of the catalog if that is current, otherwise without rows. */
  async #openDraft(draft: string): Promise<Database> {
    const { catalog } = layoutOf(this.#warehouse);
    if (this.#draft === undefined && this.#seen > 0) {
      if (stateOf(catalog) === this.#current) await copyFile(catalog, draft);
      else await this.#discard(draft);
    }
    this.#draft ??=
      this.#seen > 0 ? await Database.open(draft, CATALOG_SETTINGS) : await openEmptyCatalog(draft, this.#tables);
    return this.#draft;
  }

  #forget(): void {
    this.#seen = 0;
    this.#held.clear();
  }

  /** Closes the draft unless it is being written. The next catalog starts from this one. */
  closeIdle(): void {
    if (!this.#isWriting) this.close();
  }

  close(): void {
    this.#draft?.close();
    this.#draft = undefined;
  }

  /** A hash of the inputs of the catalog, and of the size and time of its file. */
  async #stamp(): Promise<string> {
    const file = await statIfAny(layoutOf(this.#warehouse).catalog);
    const read = readBeside(this.#warehouse);
    const sql = [
      ...declaredMacros().map(({ statement }) => statement()),
      ...declaredViews(this.#tables).map(({ statement }) => statement()),
      ...this.#tables.map((table) => selectFiles(table, [{ columns: schemaOf(table).columns, paths: ['/'] }], read)),
      commitsView([]),
      ...this.#tables.flatMap(commentsOn),
      ...declaredTon(this.#tables).map(({ body }) => body),
    ];
    const ids = this.#ledger.entries.effective.map(({ id }) => id);
    const parts = [...sql, ...ids, file?.size, file?.mtimeMs];
    return sha256Of(parts.join('\n'));
  }

  async #writeStamp(): Promise<void> {
    const { catalogStamp } = layoutOf(this.#warehouse);
    await mkdir(dirname(catalogStamp), { recursive: true });
    await writeFile(catalogStamp, await this.#stamp());
  }

  /** After a failure its contents are unknown, so the next catalog starts from nothing. */
  async #discard(path: string): Promise<void> {
    this.close();
    this.#forget();
    for (const left of [path, `${path}.wal`]) await rm(left, { force: true });
  }

  #tablesInForce(): Set<string> {
    return new Set(this.#ledger.entries.effective.flatMap(({ tables }) => Object.keys(tables)));
  }

  /** SQL that updates the draft to all entries. */
  #statements(): readonly string[] {
    const { entries } = this.#ledger;
    const changed = entries.tablesSince(this.#seen);
    const marts = martsIn(this.#ledger);
    const held = this.#tablesInForce();
    const fresh = this.#tables.filter(({ name }) => held.has(name) && !this.#held.has(name));
    const freshMarts = new Set(marts.map(({ name }) => name).filter((name) => !this.#held.has(name)));
    for (const name of [...fresh.map((table) => table.name), ...freshMarts]) this.#held.add(name);
    const changedTables = [...this.#tables, ...marts].filter(({ name }) => changed.has(name));
    return [
      // Before the tables themselves, while these are empty: views over many files would be slow to create.
      ...declaredViews(fresh).map(({ statement }) => statement()),
      ...changedTables.map((table) =>
        tableView(pathsIn(this.#warehouse), this.#ledger, table, readBeside(this.#warehouse)),
      ),
      // A table whose entries all left has no declared views in a new draft.
      ...changedTables.flatMap((table) => commentsOn(this.#held.has(table.name) ? table : { ...table, views: [] })),
      commitsView(entries.effective),
      ...tonOver(
        marts.filter(({ name }) => freshMarts.has(name)),
        [...this.#tables, ...marts],
      ),
    ];
  }
}

/** The views of `ton` that read one of these marts. */
function tonOver(marts: readonly TableDef[], tables: readonly TableDef[]): readonly string[] {
  const names = tonViews().filter(({ inputs }) => marts.some(({ name }) => inputs.includes(name)));
  const declared = declaredTon(tables);
  return names.flatMap((view) => declared.find(({ name }) => name === `ton.${view.name}`)?.statement() ?? []);
}

/** Opening a view reads a file of its table; a cache would keep a piece of each file that was ever merged away. */
const CATALOG_SETTINGS = { threads: '1', enable_external_file_cache: 'false' } as const;

/** Opens a new catalog at `path`, with all macros, and views of tables without rows. */
async function openEmptyCatalog(path: string, tables: readonly TableDef[]): Promise<Database> {
  const views = [
    ...tables.map(emptyView),
    ...declaredTon(tables).map(({ statement }) => statement()),
    // Those of columns come with rows: they would take longer than the rest.
    ...tables.flatMap((table) => viewComments({ ...table, views: [] })),
  ];
  const sql = [...declaredMacros().map(({ statement }) => statement()), ...views].join(';\n');
  const isCopied = await copyEmptyFile(sql, path);
  const database = await Database.open(path, CATALOG_SETTINGS);
  if (isCopied) return database;
  try {
    await database.transaction(() => database.run(sql));
    await database.run('CHECKPOINT');
    await keepEmptyFile(sql, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
