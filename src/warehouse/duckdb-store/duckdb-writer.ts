import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import type { TableDef } from '../../declare/table.ts';
import { clearFolder, makeFolder } from '../../files/disk.ts';
import { closeAll, guarded } from '../../files/file-failure.ts';
import { type Lock, takeLock } from '../../files/writer-lock.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import { Instance } from '../../sql/instance.ts';
import type { Query } from '../../sql/query-result.ts';
import { FORGOTTEN } from '../ledger/done-spans.ts';
import type { Entries } from '../ledger/entries.ts';
import { requireNetwork, requireOwnEntries } from '../ledger/ledger-folder.ts';
import type { Contents } from '../query/coverage.ts';
import { stateViews } from '../query/state-relations.ts';
import { writerSettings } from '../reader-settings.ts';
import { rowsOf } from '../relations/declared-relations.ts';
import { roleViews } from '../relations/role-views.ts';
import { readFiles } from '../relations/table-relation.ts';
import { requireDeclared, requireKnownTables } from '../relations/table-schema.ts';
import type { EntryDay, EntryRows, LedgerEntry, SideConnection, StagedTable, StagerOptions } from '../store.ts';
import { CATALOG_PAUSE, type StoreOptions, stepOf } from '../store-options.ts';
import type { DraftedEntry, Writer } from '../writer.ts';
import {
  createFile,
  declareMart,
  declareTables,
  insertDeclaration,
  insertEntry,
  openForWriting,
  pathsOf,
  readEntries,
  readNetwork,
  selectRows,
} from './database-file.ts';

/**
 * Opens a DuckDB file for writing, and removes what a killed run left. No other process can read the file while it is open.
 * @throws {StoreError} if another process uses it, it is of another network, is not a DuckDB file, cannot be read or written, or
 * its tables need a migration
 */
export async function openDuckdbWriter(path: string, options: StoreOptions): Promise<Writer> {
  const { network, effects, tables, command = 'tonlake' } = options;
  const { lock: lockPath, stage } = pathsOf(path);
  await makeFolder(dirname(path));
  const lock = await takeLock({ path: lockPath, subject: `warehouse ${path}`, command, effects });
  let database: Database | undefined;
  try {
    await makeFolder(stage);
    await clearFolder(stage);
    await createFile(path, network, tables);
    database = await openForWriting(path, {
      threads: '1',
      enable_external_file_cache: 'false',
      memory_limit: '64MB',
      // Uncommitted rows are written to the file group by group.
      write_buffer_row_group_count: '1',
      temp_directory: join(stage, 'spill-database'),
    });
    requireNetwork(path, await readNetwork(database, path), network);
    const entries = await readEntries(database, path);
    requireOwnEntries(path, network, entries.all);
    entries.setAside(options.setAside ?? []);
    requireKnownTables(path, entries.effective, tables);
    await declareTables(database, tables, path, entries.effective);
    const readers = await connectReaders(database, tables, entries);
    return new DuckdbWriter({ path, options, lock, database, readers, entries });
  } catch (error) {
    const clear = () => rm(stage, { recursive: true, force: true });
    await closeAll([() => database?.close(), clear, () => lock.release()]).catch(() => {});
    throw error;
  }
}

interface OpenedFile {
  readonly path: string;
  readonly options: StoreOptions;
  readonly lock: Lock;
  readonly database: Database;
  readonly readers: Database;
  readonly entries: Entries;
}

class DuckdbWriter implements Writer {
  readonly kind = 'duckdb';
  readonly path: string;
  readonly staging: StagerOptions;
  readonly entries: Entries;
  readonly instance: Instance;
  readonly #options: StoreOptions;
  readonly #lock: Lock;
  readonly #database: Database;
  readonly #readers: Database;
  readonly #queries = new PQueue({ concurrency: 1 });
  /** When the views of states were written, how long that took, and if they include all commits. */
  #states = { writtenAt: Number.NEGATIVE_INFINITY, tookMs: 0, areCurrent: true };
  /** Cached days and entry numbers of rows in force, by table, ordered by number. */
  readonly #days = new Map<string, readonly (readonly [date: string, entry: number])[]>();

  constructor({ path, options, lock, database, readers, entries }: OpenedFile) {
    this.path = path;
    this.staging = { form: 'plain', stagingPath: pathsOf(path).stage };
    this.entries = entries;
    this.instance = new Instance(writerSettings(this.staging.stagingPath, 'stages', { threads: 1 }));
    this.#options = options;
    this.#lock = lock;
    this.#database = database;
    this.#readers = readers;
  }

  readonly log: Writer['log'] = async (after, most) => this.entries.after(after).slice(0, most);

  readonly query: Query = (sql, parameters) => queryIn(this.#queries, this.#readers, sql, parameters);

  async connect(): Promise<SideConnection> {
    const database = await connectReaders(this.#database, this.#options.tables, this.entries);
    const queries = new PQueue({ concurrency: 1 });
    return {
      query: (sql, parameters) => queryIn(queries, database, sql, parameters),
      define: (functions) => queries.add(() => database.define(functions)),
      interrupt: () => database.interrupt(),
      close: async () => {
        await queries.onIdle();
        database.disconnect();
      },
    };
  }

  readonly rows: EntryRows = {
    // Opening has created every declared column.
    select: (table, entries) => selectRows(table, entries, new Set(table.columns.map(({ name }) => name))),
    days: (table) => this.#daysOf(table),
    // Rows of a DuckDB file have no separate files.
    requireSound: async () => {},
    localFolder: async () => this.path,
  };

  /** Does nothing: rows are committed together with their entries. */
  async place(): Promise<void> {}

  /** Rows, ledger entries and removal of superseded rows in one transaction. */
  async put(drafted: readonly DraftedEntry[]): Promise<number> {
    const step = stepOf(this.#options);
    const write = async () => {
      for (const { staged, declared, entry } of drafted) {
        requireOneSpan(entry);
        for (const [name, table] of Object.entries(staged.tables)) {
          await step('insert rows');
          await this.#insertRows(entry, name, table);
        }
        await step('delete superseded rows');
        const superseded = new Set(entry.supersedes);
        for (const old of this.entries.all.filter(({ id }) => superseded.has(id))) {
          for (const name of Object.keys(old.tables)) {
            await this.#database.run(`DELETE FROM ${rowsOf(name)} WHERE _entry = ${old.number}`);
          }
        }
        if (declared !== undefined) await insertDeclaration(this.#database, declared, entry.number);
        await step('insert entry');
        await insertEntry(this.#database, entry);
      }
      if (areDue) await this.#writeStates(drafted.map(({ entry }) => entry));
      await step('commit');
    };
    const areDue = this.#areStatesDue(drafted);
    // Set before, in case the transaction is rolled back.
    this.#states.areCurrent = false;
    await this.#database.withMemory(() => this.#database.transaction(write));
    this.#states.areCurrent = areDue;
    for (const { entry } of drafted) this.entries.add(entry);
    return drafted.length;
  }

  /** Limits how often states are written, because those of many entries take longer than a small commit. After a removal they are due at once. */
  #areStatesDue(drafted: readonly DraftedEntry[]): boolean {
    const { writtenAt, tookMs } = this.#states;
    const isAddition = drafted.every(({ entry }) => entry.supersedes.length === 0);
    return !isAddition || this.#options.effects.monotonic() - writtenAt >= CATALOG_PAUSE * tookMs;
  }

  async #writeStates(added: readonly LedgerEntry[] = []): Promise<void> {
    const { effects } = this.#options;
    const startedAt = effects.monotonic();
    await this.#database.run(stateViews(this.#contentsWith(added)).join(';\n'));
    const writtenAt = effects.monotonic();
    this.#states = { writtenAt, tookMs: writtenAt - startedAt, areCurrent: false };
  }

  /** The contents of the warehouse after a commit. */
  #contentsWith(added: readonly LedgerEntry[]): Contents {
    const superseded = new Set(added.flatMap(({ supersedes }) => supersedes));
    return {
      registry: this.#options,
      ledger: [...this.entries.effective, ...added].filter(({ id }) => !superseded.has(id)),
      forgotten: [...this.entries.forgotten, ...added.filter(({ scope }) => scope === FORGOTTEN)],
    };
  }

  async settle(): Promise<void> {}

  async abandon(): Promise<void> {}

  /** Does nothing: the commit that supersedes rows deletes them. */
  async clear(): Promise<number> {
    return 0;
  }

  closeIdle(): Promise<void> {
    return this.instance.closeIdle();
  }

  async close(): Promise<void> {
    await this.#queries.onIdle();
    await closeAll([
      () => this.instance.close(),
      () => this.#readers.disconnect(),
      () => this.#states.areCurrent || guarded(`warehouse ${this.path}`, () => this.#writeStates()),
      () => guarded(`warehouse ${this.path}`, () => this.#database.run('CHECKPOINT')),
      () => this.#database.close(),
      () => rm(this.staging.stagingPath, { recursive: true, force: true }),
      () => this.#lock.release(),
    ]);
  }

  async #daysOf(table: string): Promise<readonly EntryDay[]> {
    const holding = this.entries.effective.filter(({ tables }) => (tables[table]?.rows ?? 0) > 0);
    if (holding.length === 0) return [];
    const entries = new Map(holding.map((entry) => [entry.number, entry]));
    // The rows of an entry never change, so only new entries are read.
    const known = this.#days.get(table) ?? [];
    const seen = known.at(-1)?.[1] ?? 0;
    const { rows } = await this.query(
      `SELECT DISTINCT block_date::VARCHAR, _entry FROM ${rowsOf(table)}
       WHERE block_date IS NOT NULL AND _entry > ${seen} ORDER BY _entry, block_date`,
    );
    const all = [...known, ...rows.map(([date, number]) => [String(date), Number(number)] as const)];
    const inForce = all.filter(([, number]) => entries.has(number));
    this.#days.set(table, inForce);
    return inForce.flatMap(([date, number]) => {
      const entry = entries.get(number);
      return entry === undefined ? [] : [{ date, entry }];
    });
  }

  async #insertRows({ number, without }: LedgerEntry, name: string, staged: StagedTable): Promise<void> {
    const { tables, marts = [] } = this.#options;
    const table = requireDeclared([...tables, ...marts], name, staged.schema, without);
    const { sort } = table;
    const isMart = marts.includes(table);
    if (isMart) await declareMart(this.#database, table);
    if (staged.files.length === 0) return;
    const source = readFiles(staged.files.map(({ stagedPath }) => stagedPath));
    const order = staged.isSorted ? '' : ` ORDER BY ${sort.map(quoteName).join(', ')}`;
    await this.#database.run(
      `INSERT INTO ${rowsOf(name)} BY NAME SELECT *, ${number} AS _entry FROM ${source}${order}`,
    );
  }
}

/** Runs a query after all earlier ones. The memory limit of a writer is too small for the distinct accounts of a busy day, so it can be raised. */
function queryIn(queries: PQueue, database: Database, ...[sql, parameters]: Parameters<Query>): ReturnType<Query> {
  return queries.add(() => guarded('query', () => database.withMemory(() => database.query(sql, parameters))));
}

/** Another connection to the file, with temporary views for queries. */
async function connectReaders(database: Database, tables: readonly TableDef[], entries: Entries): Promise<Database> {
  const readers = await database.connect();
  const views = [...viewsWithoutAside(tables, entries), ...roleViews(tables).map(({ statement }) => statement())];
  await readers.run(views.join(';\n'));
  return readers;
}

/** Temporary views that hide the rows of entries set aside. */
function viewsWithoutAside(tables: readonly TableDef[], entries: Entries): readonly string[] {
  const aside = entries.all.filter(({ id }) => entries.isAside(id));
  const hidden = tables.filter(({ name }) => aside.some((entry) => entry.tables[name] !== undefined));
  const numbers = aside.map(({ number }) => number).join(', ');
  return [
    ...hidden.map(({ name, columns }) => {
      const names = columns.map((column) => quoteName(column.name)).join(', ');
      return { name, sql: `SELECT ${names} FROM ${rowsOf(name)} WHERE _entry NOT IN (${numbers})` };
    }),
    ...hidden.flatMap(({ views }) => views),
  ].map(({ name, sql }) => `CREATE TEMP VIEW ${quoteName(name)} AS ${sql}`);
}

/** Only compaction creates entries of several spans, and a DuckDB file has nothing to merge. Its `_commits` has one span per entry. */
function requireOneSpan({ spans }: LedgerEntry): void {
  if (spans !== undefined) throw new Error(`expected one span for an entry of a DuckDB file, got ${spans.length}`);
}
