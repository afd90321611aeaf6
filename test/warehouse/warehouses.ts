import { cpSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, TestRunner } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import type { Span } from '../../src/core/span.ts';
import type { TableDef } from '../../src/declare/table.ts';
import { Database } from '../../src/sql/database.ts';
import { type OpenStoreOptions, openReader, openStore } from '../../src/warehouse/open-store.ts';
import type { Reader, ReaderOptions } from '../../src/warehouse/reader.ts';
import type { CommitDraft, LedgerEntry, StagedSpan, Store, TableFile } from '../../src/warehouse/store.ts';
import { freshFolder } from '../scratch.ts';
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
  return closedWithTest(store);
}

/** A reader of items and parts, which is closed with the test that opens it. */
export async function openTestReader(path: string, options?: ReaderOptions): Promise<Reader> {
  return closedWithTest(await openReader(path, [items, parts], options));
}

/** Closes it at the end of the running test, unless the test has done so. What is opened outside of a test is closed by its owner. */
function closedWithTest<T extends { close(): Promise<void> }>(opened: T): T {
  if (TestRunner.getCurrentTest() === undefined) return opened;
  let isClosed = false;
  const close = opened.close.bind(opened);
  onTestFinished(async () => (isClosed ? undefined : close()));
  return Object.assign(opened, {
    close: () => {
      isClosed = true;
      return close();
    },
  });
}

/** A closed warehouse of items, with a commit for each span. @returns its path */
export async function makeItems(
  kind: StoreKind,
  ...spans: readonly (readonly [from: number, to: number, perDay?: number])[]
): Promise<string> {
  const path = freshPath(kind);
  const store = await openTestStore(path);
  for (const [from, to, perDay] of spans) await commitItems(store, from, to, { perDay });
  await store.close();
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

/** Stages the items and parts of a span. */
export async function stageItems(store: Store, span: Span, perDay?: number): Promise<StagedSpan> {
  const stage = store.stage('items', span);
  const middle = Math.floor((span.from + span.to) / 2);
  await stage.write(makeBatchOf(items, itemRows(span.from, middle, perDay)));
  await stage.write(makeBatchOf(items, itemRows(middle + 1, span.to, perDay)));
  await stage.write(makeBatchOf(parts, partRows(span.from, span.to)));
  return stage.finish();
}

export async function commitItems(
  store: Store,
  from: number,
  to: number,
  more: Partial<CommitDraft> & { perDay?: number | undefined } = {},
): Promise<LedgerEntry> {
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
