import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { oncePer } from '../../core/once-per.ts';
import { sha256Of } from '../../core/sha256.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { TableDef } from '../../declare/table.ts';
import { stateOf, statIfAny, syncPath } from '../../files/disk.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Instance } from '../../sql/instance.ts';
import { declaredTon, tonViews } from '../../sql/ton-views.ts';
import { putEmptyFile } from '../empty-files.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { ownRelations, stateViews } from '../query/state-relations.ts';
import { emptyCatalog, rowsOf } from '../relations/declared-relations.ts';
import { martsIn } from '../relations/mart-views.ts';
import { commentsOn } from '../relations/table-comments.ts';
import { readBeside, selectFiles, viewOf } from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import type { StoreOptions } from '../store-options.ts';
import { groupFiles, pathsIn } from './entry-files.ts';

/**
 * The catalog of a warehouse: a DuckDB file with macros and views that any DuckDB can open, wherever the warehouse is moved or mounted. The
 * view of a table, with its comments, reads `_rows.<table>`, which is replaced when the files of the table change.
 */
export class Catalog {
  readonly #warehouse: string;
  readonly #ledger: LedgerFolder;
  readonly #instance: Instance;
  readonly #tables: readonly TableDef[];
  readonly #pipelines: readonly PipelineDef[];
  /** State of the catalog that the next one may be a copy of. */
  #current: string | undefined;
  /** Number of the last entry that it includes. */
  #seen = 0;

  constructor(
    warehouse: string,
    ledger: LedgerFolder,
    instance: Instance,
    { tables, pipelines }: Pick<StoreOptions, 'tables' | 'pipelines'>,
  ) {
    this.#warehouse = warehouse;
    this.#ledger = ledger;
    this.#instance = instance;
    this.#tables = tables;
    this.#pipelines = pipelines;
  }

  /** True if the catalog includes all commits, so that opening need not write it. The next update starts from it then. */
  async isCurrent(): Promise<boolean> {
    const { catalog, catalogStamp } = layoutOf(this.#warehouse);
    if ((await statIfAny(`${catalog}.wal`)) !== undefined) return false;
    const isCurrent = (await readFile(catalogStamp, 'utf8').catch(() => '')) === (await this.#stamp());
    if (isCurrent) this.#keep();
    return isCurrent;
  }

  /** Atomically replaces the catalog by one with all commits. Open readers keep the old one. */
  async write(): Promise<void> {
    const { stage, catalog } = layoutOf(this.#warehouse);
    const staged = join(stage, 'catalog.duckdb');
    try {
      await this.#start(staged);
      // Made before the next await, so that all views show the same commits.
      const [seen, statements] = [this.#ledger.entries.lastNumber, this.#statements()];
      await this.#change(staged, statements);
      await syncPath(staged);
      // A log beside the old catalog was written by a session of another program, and does not fit the new one.
      await rm(`${catalog}.wal`, { force: true });
      await rename(staged, catalog);
      this.#keep(seen);
      await syncPath(this.#warehouse);
      // Without a stamp, the next writer only writes the catalog again.
      await this.#writeStamp().catch(() => {});
    } catch (error) {
      this.#seen = 0;
      throw error;
    }
  }

  /** Lets the next update start from the present catalog. */
  #keep(seen = this.#ledger.entries.lastNumber): void {
    this.#seen = seen;
    this.#current = stateOf(layoutOf(this.#warehouse).catalog);
  }

  /** Stages a copy of the catalog if nobody changed it, otherwise one of tables without rows. */
  async #start(staged: string): Promise<void> {
    const { catalog } = layoutOf(this.#warehouse);
    for (const left of [staged, `${staged}.wal`]) await rm(left, { force: true });
    if (this.#seen > 0 && stateOf(catalog) === this.#current) {
      await copyFile(catalog, staged);
      return;
    }
    this.#seen = 0;
    await putEmptyFile(emptyCatalog(this.#tables), staged, (path, statements) => this.#change(path, statements));
  }

  #change(path: string, statements: readonly string[]): Promise<void> {
    return this.#instance.use((database) => database.changeFile(path, statements));
  }

  /** A hash of the inputs of the catalog, and of the size and time of its file. */
  async #stamp(): Promise<string> {
    const file = await statIfAny(layoutOf(this.#warehouse).catalog);
    const rows = this.#tables.map(rowsOfOneFile);
    const sql = [...emptyCatalog(this.#tables), ...rows, readBeside(this.#warehouse)([]), ...this.#states([], [])];
    const ids = this.#ledger.entries.effective.map(({ id }) => id);
    return sha256Of([...sql, ...ids, file?.size, file?.mtimeMs].join('\n'));
  }

  /** SQL of commits, coverage, and the state of marts. */
  #states(ledger: readonly LedgerEntry[], forgotten: readonly LedgerEntry[]): readonly string[] {
    return stateViews({ registry: { pipelines: this.#pipelines }, ledger, forgotten }, ownRelations);
  }

  async #writeStamp(): Promise<void> {
    const { catalogStamp } = layoutOf(this.#warehouse);
    await mkdir(dirname(catalogStamp), { recursive: true });
    await writeFile(catalogStamp, await this.#stamp());
  }

  /** SQL that adds the entries that the catalog lacks. */
  #statements(): readonly string[] {
    const { entries } = this.#ledger;
    const changed = entries.tablesSince(this.#seen);
    const marts = martsIn(this.#ledger);
    const read = readBeside(this.#warehouse);
    const select = (table: TableDef): string =>
      selectFiles(table, groupFiles(pathsIn(this.#warehouse), this.#ledger, table.name), read);
    const changedMarts = marts.filter(({ name }) => changed.has(name));
    return [
      ...this.#tables.filter(({ name }) => changed.has(name)).map((table) => viewOf(rowsOf(table.name), select(table))),
      // A mart that is built again may have other columns.
      ...changedMarts.flatMap((mart) => [viewOf(quoteName(mart.name), select(mart)), ...commentsOn(mart)]),
      ...this.#states(entries.effective, entries.forgotten),
      ...tonOver(changedMarts, [...this.#tables, ...marts]),
    ];
  }
}

/** SQL of the view of a table with one file, for the stamp. */
const rowsOfOneFile = oncePer((table: TableDef) =>
  selectFiles(table, [{ columns: schemaOf(table).columns, paths: ['/'] }]),
);

/** The views of `ton` that read one of these marts. */
function tonOver(marts: readonly TableDef[], tables: readonly TableDef[]): readonly string[] {
  const names = tonViews().filter(({ inputs }) => marts.some(({ name }) => inputs.includes(name)));
  const declared = declaredTon(tables);
  return names.flatMap((view) => declared.find(({ name }) => name === `ton.${view.name}`)?.statement() ?? []);
}
