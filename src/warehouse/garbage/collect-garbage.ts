import { statSync } from 'node:fs';
import { StoreError } from '../../core/errors.ts';
import { missingFile } from '../../files/damaged-data.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { Entries } from '../ledger/entries.ts';
import type { LedgerFolder } from '../ledger/ledger-folder.ts';
import { commitOf, filesOf, type Successor, type Superseded } from '../ledger/pruned-entries.ts';
import { removeFile, restoreFile, retireFile } from '../parquet-store/pinned-files.ts';
import type { LedgerEntry } from '../store.ts';
import { DataFolders } from './data-folders.ts';
import { isPublished, publishedNumbers } from './published-entries.ts';

/** Names of the files that tonlake writes; all others in the folders are foreign and stay. */
const OWN_NAME = /^\d+-\d+-[0-9a-z]+\.parquet$/;

/** True for the path of one of our data files, as the ledger names it. */
export function isDataFile(path: string): boolean {
  return path.startsWith('tables/') && hasOwnName(path);
}

function hasOwnName(path: string): boolean {
  return OWN_NAME.test(path.slice(path.lastIndexOf('/') + 1));
}

/** How long superseded files stay, and the time now, both in milliseconds. */
export interface Grace {
  readonly now: number;
  readonly ms: number;
}

/**
 * Removes data files that no entry in force names: those of failed commits, and those that were superseded before the grace period. Also
 * completes the moves of a killed run: superseded files leave `tables/`, and files that are in force again return. Files of published
 * states stay. Only for the process that holds the lock, while no commit is running.
 * @param updateCatalog awaited before superseded files move, because the catalog must not name them any more
 * @param refresh reads entries that are new: of a commit that failed after its entry was there, or of another process
 * @returns number of removed data files
 */
export async function clearFiles(
  warehouse: string,
  ledger: LedgerFolder,
  folders: DataFolders,
  grace: Grace,
  updateCatalog: () => Promise<void>,
  refresh: () => Promise<void>,
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
  const ownIn = async (folder: 'tables' | 'pinned'): Promise<ReadonlySet<string>> =>
    new Set((await folders.list(folder)).filter(hasOwnName).map((path) => `tables/${path}`));
  const [inTables, inPinned] = [await ownIn('tables'), await ownIn('pinned')];
  for (const path of needed) {
    if (inTables.has(path)) continue;
    folders.note(path);
    const isRestored = inPinned.has(path) && (await restoreFile(warehouse, path, published.length > 0));
    if (!isRestored) throw missingFile(warehouse, path);
  }
  const unmoved = [...superseded].filter((path) => inTables.has(path) && !needed.has(path) && !aside.has(path));
  if (unmoved.length > 0) await updateCatalog();
  for (const path of unmoved) {
    folders.note(path);
    await retireFile(warehouse, path);
  }
  const found = [...new Set([...inTables, ...inPinned])];
  const unnamed = found.filter((path) => !needed.has(path) && !superseded.has(path) && !aside.has(path));
  if (unnamed.length === 0) return 0;
  // Files that another process has committed meanwhile stay, even if the lock failed. The last entry of a commit puts earlier ones in force.
  await refresh();
  const named = new Set(entries.effective.flatMap(filesOf));
  const inPublications = await publishedFiles(ledger, published);
  if (inPublications === undefined) return 0;
  const removable = unnamed.filter((path) => !inPublications.has(path) && !named.has(path));
  for (const path of removable) {
    folders.note(path);
    await removeFile(warehouse, path);
  }
  return removable.length;
}

/** True if the files of a superseded entry stay: readers may still use them, or they are published. */
export function isNeeded(
  ledger: LedgerFolder,
  { number, by }: Superseded,
  { now, ms }: Grace,
  published: readonly number[],
): boolean {
  const isOver = now - timeOf(by, now, ledger.entries.all) >= ms && now - putAt(ledger, by, now) >= ms;
  return !isOver || isPublished(published, number, by.number);
}

/** When an entry became visible: later than its `committedAt` if the machine slept in between. -Infinity if a clock was wrong. */
function putAt(ledger: LedgerFolder, { number }: Successor, now: number): number {
  const time = statSync(ledger.entryPath(number), { throwIfNoEntry: false })?.ctimeMs ?? now;
  return time < now ? time : Number.NEGATIVE_INFINITY;
}

/** When an entry was committed. If that is in the future, a clock was ahead: it was not after any later commit. */
function timeOf({ number, committedAt }: Successor, now: number, all: readonly LedgerEntry[]): number {
  if (committedAt <= now) return committedAt;
  const later = all.map(commitOf).filter((each) => each.number > number);
  return later.reduce((first, each) => Math.min(first, each.committedAt), committedAt);
}

/**
 * The superseded files of published states. If a checkpoint left out some of their entries, all entries are read.
 * @returns undefined if such an entry is lost: the files are unknown then
 */
export async function publishedFiles(
  ledger: LedgerFolder,
  published: readonly number[],
): Promise<ReadonlySet<string> | undefined> {
  const entries = ledger.entries.hasAllOf(published) ? ledger.entries : await readAll(ledger);
  const inStates = entries?.superseded.filter(({ number, by }) => isPublished(published, number, by.number));
  return inStates && new Set(inStates.flatMap(({ files }) => files));
}

/** All entries of complete commits; undefined if one is lost. */
async function readAll(ledger: LedgerFolder): Promise<Entries | undefined> {
  const log = await ledger.log(0).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'bad-ledger') return undefined;
    throw error;
  });
  if (log === undefined) return undefined;
  const entries = new Entries();
  for (const entry of log) entries.add(entry);
  return entries;
}

/** Foreign files below `tables/` that other programs would read as rows of a table; relative to the warehouse. */
export async function foreignFiles(warehouse: string): Promise<readonly string[]> {
  const folders = new DataFolders(warehouse);
  await folders.read();
  const all = await folders.list('tables');
  return all.filter((path) => /\.parquet$/i.test(path) && !hasOwnName(path)).map((path) => `tables/${path}`);
}
