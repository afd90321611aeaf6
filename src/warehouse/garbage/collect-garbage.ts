import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { missingFile } from '../../files/damaged-data.ts';
import { ifAny } from '../../files/disk.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { Entries } from '../ledger/entries.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { commitOf, filesOf, type Successor, type Superseded } from '../ledger/pruned-entries.ts';
import { removeFile, restoreFile, retireFile } from '../parquet-store/pinned-files.ts';
import type { LedgerEntry } from '../store.ts';
import { isPublished, publishedNumbers } from './published-entries.ts';

/** Names of our own files; all others in the folders are foreign and stay. */
const ownName = /^\d+-\d+-[0-9a-z]+\.parquet$/;

/** True for the path of one of our data files, as the ledger names it. */
export function isDataFile(path: string): boolean {
  return path.startsWith('tables/') && ownName.test(path.slice(path.lastIndexOf('/') + 1));
}

/**
 * Removes data files that no entry in force names: those of commits that did not happen, and those that were superseded longer than the
 * grace period ago. Completes what a killed run left half done: superseded files leave `tables/`, and files that are in force again come
 * back. Files of published states stay. Only for the process that holds the lock, while no commit is running.
 * @param showCurrent awaited before superseded files move: lists of files must not name them any more
 * @returns how many data files were removed.
 */
export async function clearFiles(
  warehouse: string,
  ledger: LedgerFolder,
  grace: { readonly now: number; readonly ms: number },
  showCurrent: () => Promise<void>,
): Promise<number> {
  const { entries } = ledger;
  const needed = new Set(entries.effective.flatMap(filesOf));
  const superseded = new Set<string>();
  const aside = new Set<string>();
  const published = await publishedNumbers(diskObjects(warehouse));
  for (const entry of entries.all) {
    if (entries.isAside(entry.id)) for (const path of filesOf(entry)) aside.add(path);
  }
  for (const each of entries.superseded) {
    if (isNeeded(ledger, each, grace, published)) for (const path of each.files) superseded.add(path);
  }
  const { tables, pinned } = layoutOf(warehouse);
  const isOwn = (name: string): boolean => ownName.test(name);
  const [shown, steady] = [new Set(await listFiles(tables, isOwn)), new Set(await listFiles(pinned, isOwn))];
  for (const path of needed) {
    if (!shown.has(path) && !(steady.has(path) && (await restoreFile(warehouse, path, published.length > 0))))
      throw missingFile(warehouse, path);
  }
  const left = [...superseded].filter((path) => shown.has(path) && !needed.has(path) && !aside.has(path));
  if (left.length > 0) await showCurrent();
  for (const path of left) await retireFile(warehouse, path);
  const found = [...new Set([...shown, ...steady])];
  const unnamed = found.filter((path) => !needed.has(path) && !superseded.has(path) && !aside.has(path));
  // Even if the lock failed: what another process has committed meanwhile stays.
  const late = unnamed.length === 0 ? [] : await ledger.refresh();
  const named = new Set(late.flatMap(filesOf));
  const over = unnamed.length === 0 ? new Set() : await publishedFiles(ledger, published);
  const removable = unnamed.filter((path) => over !== undefined && !over.has(path) && !named.has(path));
  for (const path of removable) await removeFile(warehouse, path);
  return removable.length;
}

/** True if superseded files of an entry stay: for readers that may still be open, or because they are published. */
export function isNeeded(
  ledger: LedgerFolder,
  { number, by }: Superseded,
  { now, ms }: { readonly now: number; readonly ms: number },
  published: readonly number[],
): boolean {
  const isOver = now - timeOf(by, now, ledger.entries.all) >= ms && now - putAt(ledger, by, now) >= ms;
  return !isOver || isPublished(published, number, by.number);
}

/** When an entry became visible: later than it says if the machine slept meanwhile. Unknown if a clock was wrong. */
function putAt(ledger: LedgerFolder, { number }: Successor, now: number): number {
  const time = statSync(ledger.entryPath(number), { throwIfNoEntry: false })?.ctimeMs ?? now;
  return time < now ? time : Number.NEGATIVE_INFINITY;
}

/** When something was committed. If that is in the future, the clock was ahead: it was not after any later commit. */
function timeOf({ number, committedAt }: Successor, now: number, all: readonly LedgerEntry[]): number {
  if (committedAt <= now) return committedAt;
  const later = all.map(commitOf).filter((each) => each.number > number);
  return later.reduce((first, each) => Math.min(first, each.committedAt), committedAt);
}

/**
 * The superseded files of published states, also those of entries that a checkpoint left out, for which all entries are read.
 * @returns undefined if such an entry is lost, so that nobody knows
 */
export async function publishedFiles(
  ledger: LedgerFolder,
  published: readonly number[],
): Promise<ReadonlySet<string> | undefined> {
  const entries = ledger.entries.hasAllOf(published) ? ledger.entries : await readWhole(ledger);
  if (entries === undefined) return undefined;
  const shown = entries.superseded.filter(({ number, by }) => isPublished(published, number, by.number));
  return new Set(shown.flatMap(({ files }) => files));
}

/** All entries of whole commits; undefined if one is lost. */
async function readWhole(ledger: LedgerFolder): Promise<Entries | undefined> {
  const log = await ledger.log(0).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'bad-ledger') return undefined;
    throw error;
  });
  if (log === undefined) return undefined;
  const entries = new Entries();
  for (const entry of log) entries.add(entry);
  return entries;
}

/**
 * True if {@link clearFiles} has nothing to remove later, unless marks of publications go: the files of all entries that were superseded, or
 * set aside, are gone, or published.
 */
export async function isCleared(
  warehouse: string,
  ledger: LedgerFolder,
  grace: { readonly now: number; readonly ms: number },
): Promise<boolean> {
  const { entries } = ledger;
  // Files of entries that a checkpoint left out may be published, too.
  if (!entries.hasAllOf(await publishedNumbers(diskObjects(warehouse)))) return false;
  const isWaiting = entries.superseded.some((each) => each.files.length > 0 && isNeeded(ledger, each, grace, []));
  return !isWaiting && entries.all.every((entry) => !entries.isAside(entry.id) || filesOf(entry).length === 0);
}

/** Files below `tables/` that programs read as rows of a table, and that are none of ours; relative to the warehouse. */
export function foreignFiles(warehouse: string): Promise<readonly string[]> {
  return listFiles(layoutOf(warehouse).tables, (name) => /\.parquet$/i.test(name) && !ownName.test(name));
}

/** Files below `tables/` or `pinned/` with some names, as the ledger would name them. */
async function listFiles(
  folder: string,
  accepts: (name: string) => boolean,
  path = 'tables',
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const item of (await ifAny(readdir(folder, { withFileTypes: true }))) ?? []) {
    const own = `${path}/${item.name}`;
    if (item.isDirectory()) found.push(...(await listFiles(join(folder, item.name), accepts, own)));
    else if (item.isFile() && accepts(item.name)) found.push(own);
  }
  return found;
}
