import { type Effects, realEffects } from '../core/effects.ts';
import { formatError, StoreError } from '../core/errors.ts';
import { runLimited } from '../core/run-limited.ts';
import { suggest } from '../core/suggest.ts';
import { selectedTable } from '../declare/selected-table.ts';
import type { TableDef } from '../declare/table.ts';
import { guarded } from '../files/file-failure.ts';
import type { SmallObjects } from '../objects/object-store.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import {
  type DataFiles,
  type FilesInForce,
  openDataFiles,
  PublishedEntries,
  type PublishedEntry,
  type TableInForce,
} from '../warehouse/index.ts';
import { duckdbType } from './format/column-types.ts';
import { type PublishTableOptions, publishTable, type Restart } from './publish-table.ts';
import { folderTarget, type PublishTarget } from './publish-target.ts';
import type { CatalogConfig } from './rest/catalog-config.ts';
import type { SnapshotCoverage, TableMetadata } from './table-metadata.ts';

export interface PublishOptions {
  /** Folder of a Parquet warehouse, or `s3://bucket/prefix`. */
  readonly warehouse: string;
  /** Every declared table that it may hold. Marts need no declaration. */
  readonly tables: readonly TableDef[];
  /** Coverage of a table, for the summary of its snapshot. Default: none. */
  readonly coverage?: ((files: FilesInForce) => Promise<(table: string) => SnapshotCoverage>) | undefined;
  /** Path of the warehouse as readers see it, if it differs, for example outside of a container. */
  readonly location?: string | undefined;
  /** Time that a snapshot stays readable after it was replaced, in milliseconds; at least an hour. Default a day. */
  readonly keepMs?: number | undefined;
  /** Declarations of marts by name, for the descriptions of their columns; called if there are marts. */
  readonly martDocs?: (() => Promise<Readonly<Record<string, TableDef>>>) | undefined;
  readonly effects?: Effects | undefined;
  readonly onEvent?: ((event: PublishEvent) => void) | undefined;
  /** A catalog for the tables, instead of the folder `iceberg/` of the warehouse. */
  readonly catalog?: CatalogConfig | undefined;
  /** Wraps the objects of a table, for tests. */
  readonly wrap?: ((objects: SmallObjects) => SmallObjects) | undefined;
  /** May refuse the warehouse by throwing. */
  readonly accept?: ((warehouse: Pick<DataFiles, 'path' | 'network'>) => void) | undefined;
}

/** A table that was published. */
export interface TablePublished {
  readonly event: 'table';
  readonly table: string;
  /** `skipped`: it is unchanged, for the reason in `problem`. */
  readonly outcome: 'published' | 'unchanged' | 'skipped';
  readonly files: number;
  readonly rows: number;
  /** Data files that the new snapshot adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Manifests of the newest snapshot, and how many of them were written. */
  readonly manifests: number;
  readonly written: number;
  /** Why the history of the table starts over. */
  readonly restarted?: Restart | undefined;
  readonly problem?: string | undefined;
}

/** The result; also the last line of `--json`. */
export interface PublishReport {
  readonly event: 'done';
  /** Absolute path or address of the warehouse. */
  readonly warehouse: string;
  /** Address and namespace of the catalog; undefined if the tables lie in the warehouse. */
  readonly catalog?: string | undefined;
  readonly namespace?: string | undefined;
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
  readonly target: PublishTarget;
  readonly marks: PublishedEntries;
}

const DAY_MS = 86_400_000;
/** Minimum time for readers of a snapshot that was current when they started. */
const MIN_KEEP_MS = 3_600_000;
/** The metadata of a table lists all its snapshots, and is written for each. */
const MAX_ENTRIES = 100;
/** Time to mark a published state: later, some of its files may be gone, because they were superseded for an hour. */
const MARK_WITHIN_MS = 20 * 60_000;
/** Codes of failures that skip a table. */
const SKIPPED: readonly string[] = ['mixed-rows', 'other-table'];
/** Number of tables that are published concurrently to an object store, where requests have a high latency. */
const TABLES_AT_ONCE = 6;

/**
 * Publishes the tables and marts of a Parquet warehouse as Apache Iceberg tables, over the same Parquet files: in its folder `iceberg/`, or
 * in a catalog. The ledger is authoritative: publishing again repairs any change of these tables.
 *
 * No lock is needed, and the warehouse may be written meanwhile: the files of a state are marked before a table names them, and retained while
 * one does.
 *
 * @throws {StoreError} `no-warehouse`, `bad-ledger`; `denied`, `catalog-failed` of a catalog
 */
export async function publishWarehouse(options: PublishOptions): Promise<PublishReport> {
  const { effects = realEffects } = options;
  const source = await openDataFiles(options.warehouse);
  options.accept?.(source);
  const target = await openTarget(options, source, effects);
  try {
    const marks = new PublishedEntries(source.objects, target.id);
    return await publishNewest({ ...options, effects, source, target, marks });
  } finally {
    await target.close();
  }
}

async function openTarget(options: PublishOptions, source: DataFiles, effects: Effects): Promise<PublishTarget> {
  const location = options.location ?? source.path;
  if (options.catalog === undefined) return folderTarget(source, location, options.wrap);
  const { catalogTarget } = await import('./rest/catalog-target.ts');
  return catalogTarget(source, location, options.catalog, effects);
}

async function publishNewest(publishing: Publishing): Promise<PublishReport> {
  const { effects, source } = publishing;
  const startedAt = effects.monotonic();
  let seen = -1;
  for (;;) {
    const readAt = effects.now();
    // Marks are read before the ledger, so that a mark unknown to the ledger does not belong to a newer state.
    const marks = await guarded(`iceberg tables of ${source.path}`, () => publishing.marks.read());
    const files = await source.read(publishing.tables);
    if (files.entry === 0) throw nothingToPublish(source);
    // A newer state of another ledger was published.
    const isForeign = files.entry === seen;
    const done = await guarded(`iceberg tables of ${source.path}`, () =>
      publishState(publishing, { files, marks, readAt, isForeign }),
    );
    if (done === 'late') continue;
    seen = files.entry;
    if (done === undefined) continue;
    const report = { ...done, seconds: Math.round(effects.monotonic() - startedAt) / 1000 };
    publishing.onEvent?.(report);
    return report;
  }
}

function nothingToPublish({ path }: DataFiles): StoreError {
  return new StoreError(`store: warehouse ${path} is empty: there is nothing to publish`, {
    code: 'no-rows',
    hint: `export a range first: ${suggest('run', '', { range: '-1000:', warehouse: path })}`,
  });
}

interface ReadState {
  readonly files: FilesInForce;
  /** Published entries, ascending. */
  readonly marks: readonly PublishedEntry[];
  /** When it was read; milliseconds since 1970. */
  readonly readAt: number;
  readonly isForeign: boolean;
}

/** @returns undefined if a newer state was published meanwhile; `late` if its files may be gone */
async function publishState(
  options: Publishing,
  { files, marks, readAt, isForeign }: ReadState,
): Promise<Omit<PublishReport, 'seconds'> | undefined | 'late'> {
  const { effects, source, target } = options;
  const { entry, ids } = files;
  const mark = { number: entry, id: ids.get(entry) ?? '', publishedAt: effects.now() };
  const isReplaced = isForeign || marks.some(({ number, id }) => number > entry || (ids.get(number) ?? id) !== id);
  const known = isReplaced ? [] : marks;
  const isMarked = known.some(({ number }) => number === entry);
  // A state that was already published retains its time, at which it replaced the previous state.
  if (!isMarked) await options.marks.mark(mark);
  if (effects.now() - readAt > MARK_WITHIN_MS) return 'late';
  const oldest = oldestRetained(isMarked ? known : [...known, mark], effects.now(), options.keepMs ?? DAY_MS);
  const coverageOf = (await options.coverage?.(files)) ?? (() => ({}));
  const tables = [...(await describedTables(options, files)), ...(await vanishedTables(target, files.tables))];
  const outcomes = await runLimited(
    isObjectUrl(source.path) ? TABLES_AT_ONCE : 1,
    tables.map(
      (table) => async () =>
        publishOne(options, { table, entry, oldest, isReplaced, coverage: coverageOf(table.table.name) }),
    ),
  );
  const results = outcomes.filter((outcome) => outcome !== undefined);
  if (results.length < outcomes.length) return undefined;
  for (const outcome of results) options.onEvent?.(outcome);
  const skipped = results.filter(({ outcome }) => outcome === 'skipped').map(({ table }) => table);
  const expired = marks.filter(({ number }) => (isReplaced ? number !== entry : number < oldest));
  // A skipped table may show any of the older entries.
  if (skipped.length === 0 && expired.length > 0) await options.marks.unmark(expired.map(({ number }) => number));
  const published = results.filter(({ outcome }) => outcome === 'published').length;
  const { catalog } = options;
  const place = catalog === undefined ? {} : { catalog: catalog.uri, namespace: catalog.namespace.join('.') };
  return { event: 'done', warehouse: source.path, ...place, entry, tables: tables.length, published, skipped };
}

/**
 * The oldest published entry that stays readable: those that were replaced less than `keepMs` ago, at least an hour, and at most 100 beyond
 * that hour.
 *
 * @param marks published entries, ascending, not empty; each was replaced when the next one was published
 * @param now milliseconds since 1970
 */
export function oldestRetained(marks: readonly PublishedEntry[], now: number, keepMs: number): number {
  const retained = marks.filter((_, at) => {
    const next = marks[at + 1];
    if (next === undefined) return true;
    const isAmongNewest = marks.length - at <= MAX_ENTRIES;
    return now - next.publishedAt < (isAmongNewest ? Math.max(keepMs, MIN_KEEP_MS) : MIN_KEEP_MS);
  });
  return Math.min(...retained.map(({ number }) => number));
}

/** The tables in force, with declared descriptions of marts. */
async function describedTables(
  { martDocs }: PublishOptions,
  { tables }: FilesInForce,
): Promise<readonly TableInForce[]> {
  if (martDocs === undefined || !tables.some(({ isMart }) => isMart)) return tables;
  const declared = await martDocs();
  return tables.map((each) => {
    const known = each.isMart ? declared[each.table.name] : undefined;
    if (known === undefined) return each;
    const docOf = new Map(known.columns.map(({ name, doc, unit }) => [name, { doc, unit }]));
    const columns = each.table.columns.map((column) => ({ ...column, ...docOf.get(column.name) }));
    return { ...each, table: { ...each.table, grain: known.grain, columns } };
  });
}

/** @returns undefined if it shows a newer state already */
async function publishOne(
  { effects, location, source, target }: Publishing,
  state: Pick<PublishTableOptions, 'table' | 'entry' | 'oldest' | 'isReplaced' | 'coverage'>,
): Promise<TablePublished | undefined> {
  const { table, files } = state.table;
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const base = { event: 'table', table: table.name, files: files.length, rows } as const;
  try {
    const done = await publishTable({
      ...state,
      versions: target.versionsOf(table.name),
      uriOf: (file) => `${location ?? source.path}/${file.stablePath}`,
      pin: (fresh) => source.pin(fresh),
      now: effects.now,
      freshId: effects.freshId,
    });
    if (done.outcome === 'overtaken') return undefined;
    const { outcome, added, removed, manifests, written, restarted } = done;
    return { ...base, outcome, added, removed, manifests, written, ...(restarted && { restarted }) };
  } catch (error) {
    if (!(error instanceof StoreError) || !SKIPPED.includes(error.code)) throw error;
    const problem = formatError(error);
    return { ...base, outcome: 'skipped', added: 0, removed: 0, manifests: 0, written: 0, problem };
  }
}

/** Published tables that have no rows any more, such as forgotten ones. They are published as empty, with their columns. */
async function vanishedTables(
  target: PublishTarget,
  current: readonly TableInForce[],
): Promise<readonly TableInForce[]> {
  const names = new Set(current.map(({ table }) => table.name));
  const found: TableInForce[] = [];
  for (const name of await target.tables()) {
    if (names.has(name)) continue;
    const metadata = (await target.versionsOf(name).current())?.metadata;
    if (metadata !== undefined) found.push(emptyTable(name, metadata));
  }
  return found;
}

function emptyTable(name: string, metadata: TableMetadata): TableInForce {
  const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id']);
  const columns = (schema?.fields ?? []).map((field) => ({ name: field.name, type: duckdbType(field.type) }));
  const { fields } = metadata['partition-specs'][0] ?? { fields: [] };
  const isDated = fields.length > 0;
  const table = selectedTable({ name, grain: '', key: [], isDated, columns });
  return { table, isMart: false, partition: fields[0]?.name, files: [] };
}
