import { readdir, rm, rmdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { clearFolder, ifAny } from './disk.ts';
import { badLedger } from './entries.ts';
import { type LedgerFolder, layoutOf } from './ledger.ts';
import type { LedgerEntry } from './store.ts';

/** The names we give to files; anything else in the folders belongs to somebody else and stays. */
const ownName = /^\d+-\d+-[0-9a-z]+\.parquet$/;

/**
 * Removes what no entry in force names: staged files, files of commits that did not happen, and files that were superseded
 * longer than the grace period ago. Only for the process that holds the lock.
 * @returns how many data files were removed.
 */
export async function clearLeftovers(
  warehouse: string,
  ledger: LedgerFolder,
  grace: { readonly now: number; readonly ms: number },
): Promise<number> {
  await clearFolder(layoutOf(warehouse).stage);
  return clearFiles(warehouse, ledger, grace);
}

/** As {@link clearLeftovers}, without the staged files: nothing may be on its way into the folders. */
export async function clearFiles(
  warehouse: string,
  ledger: LedgerFolder,
  grace: { readonly now: number; readonly ms: number },
): Promise<number> {
  const { entries } = ledger;
  const needed = new Set(entries.effective.flatMap(filesOf));
  const kept = new Set<string>();
  for (const entry of entries.all) {
    if (entries.isAside(entry.id)) for (const path of filesOf(entry)) kept.add(path);
    const successor = entries.successorOf(entry.id);
    if (successor === undefined || grace.now - Date.parse(successor.committedAt) >= grace.ms) continue;
    for (const path of filesOf(entry)) kept.add(path);
  }
  const found = await listFiles(warehouse);
  const unnamed = found.filter((path) => !needed.delete(path) && !kept.has(path));
  // Whatever a lock was worth: what another process has committed meanwhile stays.
  const late = unnamed.length === 0 ? [] : await ledger.refresh();
  const named = new Set(late.flatMap(filesOf));
  const removable = unnamed.filter((path) => !named.has(path));
  for (const path of removable) {
    await rm(join(warehouse, path), { force: true });
    // Fails where other files are left, which is right.
    await rmdir(join(warehouse, path, '..')).catch(() => {});
  }
  const [lost] = needed;
  if (lost !== undefined) {
    throw badLedger(`warehouse ${warehouse} lacks ${lost}, which its ledger names`, undefined, repairHint(warehouse));
  }
  return removable.length;
}

function repairHint(warehouse: string): string {
  return `tonlake verify --repair --warehouse ${warehouse}`;
}

function filesOf(entry: LedgerEntry): string[] {
  return Object.values(entry.tables).flatMap(({ files }) => files.map(({ path }) => path));
}

/** Our files below `tables/`, relative to the warehouse, with forward slashes. */
async function listFiles(warehouse: string): Promise<readonly string[]> {
  const { tables } = layoutOf(warehouse);
  const found = (await ifAny(readdir(tables, { recursive: true, withFileTypes: true }))) ?? [];
  return found
    .filter((item) => item.isFile() && ownName.test(item.name))
    .map((item) => relative(warehouse, join(item.parentPath, item.name)).split(sep).join('/'));
}
