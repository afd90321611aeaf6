import { join } from 'node:path';
import { type Effects, realEffects } from '../core/effects.ts';
import { formatError, StoreError } from '../core/errors.ts';
import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import {
  type DataFiles,
  type FilesInForce,
  openDataFiles,
  type PublishedEntry,
  type TableInForce,
} from '../warehouse/index.ts';
import { diskFolder, type ObjectFolder } from './object-folder.ts';
import { publishTable, type Restart } from './publish-table.ts';
import { oldestKept } from './snapshot-retention.ts';
import { vanishedTables } from './vanished-tables.ts';

export interface PublishOptions {
  /** Folder of a Parquet warehouse. */
  readonly warehouse: string;
  /** Every declared table that it may hold. Marts need no declaration. */
  readonly tables: readonly TableDef[];
  /** Path of the warehouse as readers see it, if it differs, for example outside of a container. */
  readonly location?: string | undefined;
  /** How long a snapshot stays readable after it was replaced, in milliseconds, at least an hour. Default a day. */
  readonly keepMs?: number | undefined;
  /** Declarations of marts by name, for the descriptions of their columns; called if there are marts. */
  readonly martDocs?: (() => Promise<Readonly<Record<string, TableDef>>>) | undefined;
  readonly effects?: Effects | undefined;
  readonly onEvent?: ((event: PublishEvent) => void) | undefined;
  /** Where the metadata of a table is written, for tests. Default: `iceberg/<table>` in the warehouse. */
  readonly folderOf?: FolderOf | undefined;
  /** May refuse the warehouse by throwing. */
  readonly accept?: ((warehouse: Pick<DataFiles, 'path' | 'network'>) => void) | undefined;
}

/** A table that was published. */
export interface TablePublished {
  readonly event: 'table';
  readonly table: string;
  /** `skipped`: it stays as it was, for the reason in `problem`. */
  readonly outcome: 'published' | 'unchanged' | 'skipped';
  readonly files: number;
  readonly rows: number;
  /** Data files that the new snapshot adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Manifests of the newest snapshot, and those of them that were written. */
  readonly manifests: number;
  readonly written: number;
  /** Why the history of the table begins anew. */
  readonly restarted?: Restart | undefined;
  readonly problem?: string | undefined;
}

/** The result; also the last line of `--json`. */
export interface PublishReport {
  readonly event: 'done';
  /** Absolute path of the warehouse. */
  readonly warehouse: string;
  /** Number of the newest ledger entry that every table shows. */
  readonly entry: number;
  readonly tables: number;
  /** Tables with a new snapshot. */
  readonly published: number;
  /** Tables that were skipped. */
  readonly skipped: readonly string[];
  readonly seconds: number;
}

export type { Restart };

export type PublishEvent = TablePublished | PublishReport;

interface Publishing extends PublishOptions {
  readonly effects: Effects;
  readonly source: DataFiles;
}

type FolderOf = (table: string) => ObjectFolder;

const DAY_MS = 86_400_000;

/**
 * Publishes the tables and marts of a Parquet warehouse as Apache Iceberg tables in its folder `iceberg/`, over the same Parquet files. The
 * ledger stays the truth: whatever happens to that folder, publishing again mends it.
 *
 * No lock is needed, and the warehouse may be written meanwhile: the files of a state are marked before a table names them, and stay until
 * no table does.
 *
 * @throws {StoreError} `no-warehouse`, `no-files`, `no-links`, `bad-ledger`
 */
export async function publishWarehouse(options: PublishOptions): Promise<PublishReport> {
  const { effects = realEffects } = options;
  const startedAt = effects.monotonic();
  const source = await openDataFiles(options.warehouse);
  options.accept?.(source);
  let seen = -1;
  for (;;) {
    // Marks before the ledger: one that the ledger does not know then is not that of a newer state.
    const marks = await source.published();
    const held = await source.read(options.tables);
    if (held.entry === 0) throw nothingToPublish(source);
    // A newer state was published, but not of this ledger.
    const isForeign = held.entry === seen;
    const done = await guarded(`iceberg tables of ${source.path}`, () =>
      publishState({ ...options, effects, source }, held, marks, isForeign),
    );
    seen = held.entry;
    if (done === undefined) continue;
    const report = { ...done, seconds: Math.round(effects.monotonic() - startedAt) / 1000 };
    options.onEvent?.(report);
    return report;
  }
}

function nothingToPublish({ path }: DataFiles): StoreError {
  return new StoreError(`store: warehouse ${path} is empty: there is nothing to publish`, {
    code: 'no-rows',
    hint: 'export a range first: tonlake run',
  });
}

/** @returns undefined if a newer state was published meanwhile */
async function publishState(
  options: Publishing,
  held: FilesInForce,
  marks: readonly PublishedEntry[],
  isForeign: boolean,
): Promise<Omit<PublishReport, 'seconds'> | undefined> {
  const { effects, source } = options;
  const { path } = source;
  const { entry, ids } = held;
  const mark = { number: entry, id: ids.get(entry) ?? '', publishedAt: effects.now() };
  const isReplaced = isForeign || marks.some(({ number, id }) => number > entry || (ids.get(number) ?? id) !== id);
  const known = isReplaced ? [] : marks;
  const isMarked = known.some(({ number }) => number === entry);
  // A state that was published before keeps its time, which tells when the one before it was replaced.
  if (!isMarked) await source.mark(mark, effects.freshId());
  const oldest = oldestKept(isMarked ? known : [...known, mark], effects.now(), options.keepMs ?? DAY_MS);
  const folderOf = options.folderOf ?? foldersOf(options);
  const tables = [...(await describedTables(options, held)), ...(await vanishedTables(path, held.tables, folderOf))];
  const outcomes: TablePublished[] = [];
  for (const table of tables) {
    const outcome = await publishOne(options, { table, entry, oldest, isReplaced, folderOf });
    if (outcome === undefined) return undefined;
    outcomes.push(outcome);
    options.onEvent?.(outcome);
  }
  const skipped = outcomes.filter(({ outcome }) => outcome === 'skipped').map(({ table }) => table);
  const expired = marks.filter(({ number }) => (isReplaced ? number !== entry : number < oldest));
  // A table that stays as it was may show any of the older entries.
  if (skipped.length === 0) for (const { number } of expired) await source.unmark(number);
  const published = outcomes.filter(({ outcome }) => outcome === 'published').length;
  return { event: 'done', warehouse: path, entry, tables: tables.length, published, skipped };
}

/** The tables in force; marts with the descriptions of their declarations. */
async function describedTables(
  { martDocs }: PublishOptions,
  { tables }: FilesInForce,
): Promise<readonly TableInForce[]> {
  if (martDocs === undefined || !tables.some(({ isMart }) => isMart)) return tables;
  const declared = await martDocs();
  return tables.map((held) => {
    const known = held.isMart ? declared[held.table.name] : undefined;
    if (known === undefined) return held;
    const docOf = new Map(known.columns.map(({ name, doc, unit }) => [name, { doc, unit }]));
    const columns = held.table.columns.map((column) => ({ ...column, ...docOf.get(column.name) }));
    return { ...held, table: { ...held.table, grain: known.grain, columns } };
  });
}

function foldersOf({ location, effects, source: { path } }: Publishing): FolderOf {
  return (table) => diskFolder(join(path, 'iceberg', table), effects.freshId, `${location ?? path}/iceberg/${table}`);
}

interface TableState {
  readonly table: TableInForce;
  readonly entry: number;
  readonly oldest: number;
  readonly isReplaced: boolean;
  readonly folderOf: FolderOf;
}

/** @returns undefined if it shows a newer state already */
async function publishOne(
  { effects, location, source }: Publishing,
  { folderOf, ...state }: TableState,
): Promise<TablePublished | undefined> {
  const { table, files } = state.table;
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const base = { event: 'table', table: table.name, files: files.length, rows } as const;
  try {
    const done = await publishTable({
      ...state,
      folder: folderOf(table.name),
      uriOf: (file) => `${location ?? source.path}/${file.lastingPath}`,
      keep: (file) => source.keep(file),
      now: effects.now(),
      freshId: effects.freshId,
    });
    if (done.outcome === 'overtaken') return undefined;
    const { outcome, added, removed, manifests, written, restarted } = done;
    return { ...base, outcome, added, removed, manifests, written, ...(restarted && { restarted }) };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'mixed-rows') throw error;
    const problem = formatError(error);
    return { ...base, outcome: 'skipped', added: 0, removed: 0, manifests: 0, written: 0, problem };
  }
}
