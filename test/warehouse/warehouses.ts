import { cpSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import type { Span } from '../../src/core/span.ts';
import type { TableDef } from '../../src/declare/table.ts';
import { Database } from '../../src/sql/database.ts';
import type { DamagedStore } from '../../src/warehouse/damaged-store.ts';
import type { ProvenLedger } from '../../src/warehouse/ledger/proven-ledger.ts';
import { type OpenStoreOptions, openDamaged, openReader, openStore } from '../../src/warehouse/open-store.ts';
import type { Reader, ReaderOptions } from '../../src/warehouse/reader.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import type { CommitDraft, LedgerEntry, StagedSpan, Store, TableFile } from '../../src/warehouse/store.ts';
import { closing, freshFolder } from '../scratch.ts';
import { makeBatchOf } from './batches.ts';
import { itemRows, items, partRows, parts } from './tables.ts';

export type StoreKind = Store['kind'];

/** A path at which no warehouse is yet. */
export function freshPath(kind: StoreKind): string {
  return join(freshFolder(), kind === 'parquet' ? 'w' : 'w.duckdb');
}

/** A store of items and parts, which is closed with the test that opens it. */
export async function openTestStore(path: string, more: Partial<OpenStoreOptions> = {}): Promise<Store> {
  const store = await openStore({
    path,
    network: 'sandbox',
    tables: [items, parts],
    pipelines: [],
    effects: realEffects,
    command: 'tonlake run x',
    ...more,
  });
  return closing(store);
}

/** A reader of items and parts, which is closed with the test that opens it. */
export async function openTestReader(path: string, options?: ReaderOptions): Promise<Reader> {
  return closing(await openReader(path, [items, parts], options));
}

/** Looks at a warehouse of items and parts that may be damaged, while it is open. */
export async function look<T>(
  path: string,
  use: (damaged: DamagedStore) => Promise<T> | T,
  proven?: ProvenLedger,
): Promise<T> {
  const damaged = await openDamaged(path, {
    ...{ tables: [items, parts], spill: join(freshFolder(), 'spill'), memoryMb: 256, proven },
    ownerOf: (name) => ({ pipeline: 'items', column: name === 'items' ? 'lt' : undefined }),
  });
  try {
    return await use(damaged);
  } finally {
    damaged.close();
  }
}

/** What is done with a store that is closed after it. */
export async function withStore<T>(
  path: string,
  work: (store: Store) => Promise<T>,
  more?: Partial<OpenStoreOptions>,
): Promise<T> {
  const store = await openTestStore(path, more);
  const done = await work(store);
  await store.close();
  return done;
}

type ItemsDraft = Partial<CommitDraft> & { readonly perDay?: number | undefined };
type ItemsSpan = readonly [from: number, to: number, more?: ItemsDraft];

/** Commits items for each span to a warehouse that nobody has open. */
export async function addItems(path: string, ...spans: readonly ItemsSpan[]): Promise<void> {
  await withStore(path, async (store) => {
    for (const span of spans) await commitItems(store, ...span);
  });
}

/** Spans of ten items, one after the other. */
export function tens(count: number, more: ItemsDraft = {}): readonly ItemsSpan[] {
  return Array.from({ length: count }, (_, at) => [at * 10, at * 10 + 9, more] as const);
}

/** A closed warehouse of items, with a commit for each span. @returns its path */
export async function makeItems(kind: StoreKind, ...spans: readonly ItemsSpan[]): Promise<string> {
  const path = freshPath(kind);
  await addItems(path, ...spans);
  return path;
}

/** The real effects with a clock that the test moves. */
export function clockAt(start: number): Effects & { time: number } {
  const clock = { ...realEffects, time: start, now: () => clock.time };
  return clock;
}

export function draftOf(span: Span, more: Partial<CommitDraft> = {}): CommitDraft {
  return {
    network: 'sandbox',
    pipeline: 'items',
    version: 1,
    span,
    verdict: 'accepted',
    requests: 1,
    retries: 0,
    supersedes: [],
    ...more,
  };
}

type Rows = Parameters<typeof makeBatchOf>[1];

/** An entry of a ledger, as it was read from somewhere. */
export function entryOf(number: number, more: Partial<LedgerEntry> = {}): LedgerEntry {
  const { span = { from: number, to: number } } = more;
  return { ...draftOf(span), format: 1, number, id: `e${number}`, committedAt: '', tables: {}, ...more };
}

type FileFacts = Partial<TableFile> & Pick<TableFile, 'path' | 'bytes'>;

/** The tables of an entry whose items lie in some files. */
export function itemsIn(files: readonly FileFacts[], schema = schemaOf(items).id): LedgerEntry['tables'] {
  const known = files.map((file) => ({ rows: 1, bounds: {}, sha256: '', ...file }));
  return { items: { rows: 1, keyHash: '1', sums: {}, schema, files: known } };
}

/** Stages rows of one table. */
export async function stageRows(store: Store, table: TableDef, rows: Rows, span: Span): Promise<StagedSpan> {
  const stage = store.stage(span);
  await stage.write(makeBatchOf(table, rows));
  return stage.finish();
}

/** Commits rows of one table. */
export async function commitRows(
  store: Store,
  table: TableDef,
  rows: Rows,
  span: Span,
  more?: Partial<CommitDraft>,
): Promise<LedgerEntry> {
  return store.commit(await stageRows(store, table, rows, span), draftOf(span, more));
}

/** Stages the items and parts of a span. */
export async function stageItems(store: Store, span: Span, perDay?: number): Promise<StagedSpan> {
  const stage = store.stage(span);
  const middle = Math.floor((span.from + span.to) / 2);
  await stage.write(makeBatchOf(items, itemRows(span.from, middle, perDay)));
  await stage.write(makeBatchOf(items, itemRows(middle + 1, span.to, perDay)));
  await stage.write(makeBatchOf(parts, partRows(span.from, span.to)));
  return stage.finish();
}

export async function commitItems(store: Store, from: number, to: number, more: ItemsDraft = {}): Promise<LedgerEntry> {
  const { perDay, ...draft } = more;
  return store.commit(await stageItems(store, { from, to }, perDay), draftOf({ from, to }, draft));
}

/** Rows and distinct keys of items; they differ when a row is there twice. */
export async function countItems(
  store: Pick<Store, 'query'>,
): Promise<{ rows: number; distinct: number; parts: number }> {
  const { rows } = await store.query('SELECT count(*), count(DISTINCT hash), (SELECT count(*) FROM parts) FROM items');
  const [count, distinct, partCount] = (rows[0] ?? []).map(Number);
  return { rows: count ?? -1, distinct: distinct ?? -1, parts: partCount ?? -1 };
}

/** The entries in force. */
export async function readLedger(path: string): Promise<readonly LedgerEntry[]> {
  const reader = await openReader(path, [items, parts]);
  return reader.ledger().finally(() => reader.close());
}

/** All files that entries name. */
export function filesOf(entries: readonly LedgerEntry[], table?: string): readonly TableFile[] {
  return entries.flatMap(({ tables }) =>
    Object.entries(tables).flatMap(([name, { files }]) => (table === undefined || name === table ? files : [])),
  );
}

/** The rows of a query of the catalog of a folder, or of a DuckDB file, as any program with DuckDB has them. */
export async function queryFile(path: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const file = path.endsWith('.duckdb') ? path : join(path, 'warehouse.duckdb');
  const database = await Database.open(file, { access_mode: 'READ_ONLY' });
  const { rows } = await database.query(sql).finally(() => database.close());
  return rows;
}

/** Statements of another program in a catalog. */
export const FOREIGN_CHANGES =
  'CREATE TABLE foreign_table AS SELECT 1; CREATE OR REPLACE VIEW parts AS SELECT 2; CHECKPOINT';

/** Rows and commits in a catalog, which must have nothing of {@link FOREIGN_CHANGES}. */
export async function countCatalog(path: string) {
  const counts = ['items', 'parts', '_commits', "duckdb_tables() WHERE table_name = 'foreign_table'"];
  const [row = []] = await queryFile(
    path,
    `SELECT ${counts.map((from) => `(SELECT count(*) FROM ${from})`).join(', ')}`,
  );
  const [items, parts, commits, foreign] = row.map(Number);
  expect(foreign).toBe(0);
  return { items, parts, commits };
}

/** Changes a DuckDB file behind the back of tonlake. */
export async function editFile(file: string, sql: string): Promise<void> {
  const database = await Database.open(file);
  await database.run(sql).finally(() => database.close());
}

/** Data files below a folder, relative to it. */
export async function listFiles(path: string): Promise<string[]> {
  return (await listAll(path)).filter((name) => name.endsWith('.parquet'));
}

/** Every file below a folder, relative. */
export async function listAll(path: string): Promise<string[]> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  return found
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name).slice(path.length + 1))
    .sort();
}

/** Turns the owner of a lock into a process that ended: the pid belongs to another one now. */
export async function killOwner(lock: string): Promise<void> {
  const owner = JSON.parse(await readFile(lock, 'utf8'));
  await writeFile(lock, JSON.stringify({ ...owner, startedAt: 'another time' }));
}

/** `items` with changes, as a later version of its declaration. */
export function changedItems(change: (columns: TableDef['columns']) => TableDef['columns']): TableDef {
  return { ...items, columns: change(items.columns) };
}

/** The file of an entry of a ledger. */
export function entryPath(path: string, number: number): string {
  return join(path, '_ledger', `${String(number).padStart(8, '0')}.json`);
}

/** Changes an entry and keeps its size and time, so that nobody who does not read it can know. */
export function spoil(path: string, number: number): void {
  const file = entryPath(path, number);
  const { size, mtimeMs } = statSync(file);
  writeFileSync(file, 'x'.repeat(size));
  const seconds = (Math.floor(mtimeMs) + 0.5) / 1000;
  utimesSync(file, seconds, seconds);
}

/** A copy with the times of all files and folders. */
export function copyOf(path: string): string {
  const copy = freshPath('parquet');
  cpSync(path, copy, { recursive: true });
  for (const name of readdirSync(copy, { recursive: true, encoding: 'utf8' })) {
    const { mtimeMs } = statSync(join(path, name));
    // The same millisecond, in seconds whatever their last digit is.
    const seconds = (Math.floor(mtimeMs) + 0.5) / 1000;
    utimesSync(join(copy, name), seconds, seconds);
  }
  return copy;
}
