import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreError } from '../../core/errors.ts';
import { ifAny } from '../../files/disk.ts';
import { badLedger } from '../ledger/entries.ts';
import { type LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { isPinned, pinFile, removeFile, restoreFile, retireFile } from '../parquet-store/pinned-files.ts';
import type { LedgerEntry } from '../store.ts';

/** Names of our own files; all others in the folders are foreign and stay. */
const ownName = /^\d+-\d+-[0-9a-z]+\.parquet$/;

/**
 * Removes data files that no entry in force names: those of commits that did not happen, and those that were superseded longer than the
 * grace period ago. Completes what a killed run left half done: superseded files leave `tables/`, and files in force get both of their
 * names. Only for the process that holds the lock, while no commit is running.
 * @returns how many data files were removed.
 */
export async function clearFiles(
  warehouse: string,
  ledger: LedgerFolder,
  grace: { readonly now: number; readonly ms: number },
): Promise<number> {
  const { entries } = ledger;
  const needed = new Set(entries.effective.flatMap(filesOf));
  const superseded = new Set<string>();
  const aside = new Set<string>();
  for (const entry of entries.all) {
    if (entries.isAside(entry.id)) for (const path of filesOf(entry)) aside.add(path);
    const successor = entries.successorOf(entry.id);
    if (successor === undefined || grace.now - Date.parse(successor.committedAt) >= grace.ms) continue;
    for (const path of filesOf(entry)) superseded.add(path);
  }
  const { tables, pinned } = layoutOf(warehouse);
  const [shown, steady] = [new Set(await listFiles(tables)), new Set(await listFiles(pinned))];
  for (const path of superseded) if (shown.has(path)) await retireFile(warehouse, path);
  const found = [...new Set([...shown, ...steady])];
  const unnamed = found.filter((path) => !needed.has(path) && !superseded.has(path) && !aside.has(path));
  // Even if the lock failed: what another process has committed meanwhile stays.
  const late = unnamed.length === 0 ? [] : await ledger.refresh();
  const named = new Set(late.flatMap(filesOf));
  const removable = unnamed.filter((path) => !named.has(path));
  for (const path of removable) await removeFile(warehouse, path);
  for (const path of needed) {
    if (!shown.has(path) && !(steady.has(path) && (await restoreFile(warehouse, path))))
      throw lostFile(warehouse, path);
  }
  for (const path of needed) {
    // If one file cannot have a second name, none can.
    if (!isPinned(warehouse, path) && !(await pinFile(warehouse, path))) break;
  }
  return removable.length;
}

/** True if {@link clearFiles} has nothing to remove later: the files of all entries that were superseded, or set aside, are gone. */
export function isCleared({ entries }: LedgerFolder, grace: { readonly now: number; readonly ms: number }): boolean {
  return entries.all.every((entry) => {
    const successor = entries.successorOf(entry.id);
    const isWaiting = successor !== undefined && grace.now - Date.parse(successor.committedAt) < grace.ms;
    return (!isWaiting && !entries.isAside(entry.id)) || filesOf(entry).length === 0;
  });
}

function lostFile(warehouse: string, path: string): StoreError {
  return badLedger(
    `warehouse ${warehouse}: missing file ${path}, which its ledger names`,
    undefined,
    repairHint(warehouse),
  );
}

function repairHint(warehouse: string): string {
  return `tonlake verify --repair --warehouse ${warehouse}`;
}

/** Paths of the data files of an entry, as the ledger names them. */
export function filesOf(entry: LedgerEntry): string[] {
  return Object.values(entry.tables).flatMap(({ files }) => files.map(({ path }) => path));
}

/** Our files below `tables/` or `pinned/`, as the ledger names them. */
async function listFiles(folder: string, name = 'tables'): Promise<readonly string[]> {
  const found: string[] = [];
  for (const item of (await ifAny(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = `${name}/${item.name}`;
    if (item.isDirectory()) found.push(...(await listFiles(join(folder, item.name), path)));
    else if (item.isFile() && ownName.test(item.name)) found.push(path);
  }
  return found;
}
