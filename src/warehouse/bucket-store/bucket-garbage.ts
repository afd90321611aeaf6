import type { ObjectEntry, ObjectStore } from '../../objects/object-store.ts';
import { isDataFile, publishedFiles } from '../garbage/collect-garbage.ts';
import { isPublished, publishedNumbers } from '../garbage/published-entries.ts';
import { entryName } from '../ledger/entries.ts';
import { filesIn } from '../ledger/entries-in.ts';
import { LEDGER, type LedgerFolder } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';

/** A writer abandons a commit whose first file it put longer ago than this. */
export const COMMIT_WITHIN_MS = 12 * 3_600_000;
/** Age, by the clock of the store, at which files that no entry names are removed. By then no commit can name them any more. */
const ORPHAN_MS = 24 * 3_600_000;
/** Minimum time between two automatic collections of a warehouse. */
const COLLECT_EVERY_MS = 3_600_000;

/** Put when a collection begins. */
const MARKER = '_checkpoints/collected';
/** Put to read the clock of the store, for which it has no other means. */
const CLOCK = '_checkpoints/clock';

export interface CollectOptions {
  readonly graceMs: number;
  /** False to do nothing if the last collection is recent. */
  readonly isForced: boolean;
}

/**
 * Removes data files that no entry in force names, and aborts old uploads, while other processes write. This is safe because writers
 * abandon a commit at an age well below that at which files are removed, and because files are listed before the ledger is read: earlier
 * commits name their files, and later ones have younger files. Files of published states stay; their marks are read after the clock, see
 * `MARK_WITHIN_MS`.
 *
 * @returns number of removed files
 */
export async function collectGarbage(
  objects: ObjectStore,
  ledger: LedgerFolder,
  { graceMs, isForced }: CollectOptions,
  refresh: () => Promise<unknown>,
): Promise<number> {
  const [before] = await objects.list(MARKER);
  await objects.put(CLOCK, new Uint8Array());
  const [clock] = await objects.list(CLOCK);
  const now = clock?.putAt ?? 0;
  if (!isForced && before !== undefined && now - before.putAt < COLLECT_EVERY_MS) return 0;
  await objects.put(MARKER, new Uint8Array());
  const found = (await objects.list('tables/')).filter(({ key }) => isDataFile(key));
  await refresh();
  const published = await publishedNumbers(objects);
  const { needed, superseded, isOlder } = await sortFiles(objects, ledger, found, { now, graceMs, published });
  const unnamed = found
    .filter(({ key, putAt }) => !needed.has(key) && !superseded.has(key) && now - putAt >= ORPHAN_MS)
    .map(({ key }) => key);
  const shown = unnamed.length === 0 && !isOlder ? new Set() : await publishedFiles(ledger, published);
  const over = found.flatMap(({ key }) => (superseded.has(key) && !needed.has(key) ? [key] : []));
  const gone = [...unnamed, ...over].filter((key) => shown !== undefined && !shown.has(key));
  await objects.remove(gone);
  await objects.abortUploads('tables/', now - ORPHAN_MS);
  return gone.length;
}

/**
 * Files that entries name: `needed` ones, and `superseded` ones whose grace period is over. `isOlder` if older entries, which a checkpoint
 * left out, may name some of these, too, because merges can reuse files.
 */
async function sortFiles(
  objects: ObjectStore,
  { entries }: LedgerFolder,
  found: readonly ObjectEntry[],
  {
    now,
    graceMs,
    published,
  }: { readonly now: number; readonly graceMs: number; readonly published: readonly number[] },
) {
  const existing = new Set(found.map(({ key }) => key));
  const over = entries.all.flatMap((entry) => {
    const successor = entries.successorOf(entry.id);
    if (successor === undefined || now - Date.parse(successor.committedAt) < graceMs) return [];
    if (isPublished(published, entry.number, successor.number)) return [];
    return filesOf(entry).some((path) => existing.has(path)) ? [{ entry, by: successor.number }] : [];
  });
  const putAt = over.length === 0 ? undefined : await putTimes(objects, Math.min(...over.map(({ by }) => by)));
  const gone = new Set(
    over.flatMap(({ entry, by }) => (now - (putAt?.get(by) ?? Number.NEGATIVE_INFINITY) >= graceMs ? [entry.id] : [])),
  );
  const needed = new Set<string>();
  const superseded = new Set<string>();
  // An incomplete commit stays incomplete: its files are collected by age, like those that no entry names.
  for (const entry of entries.after(0)) {
    for (const path of filesOf(entry)) (gone.has(entry.id) ? superseded : needed).add(path);
  }
  const isOlder = filesIn(over.map(({ entry }) => entry)).some(({ copied }) => copied !== undefined);
  return { needed, superseded, isOlder };
}

/** When entries were put, by the clock of the store, because the clock of their writer may be wrong. */
async function putTimes(objects: ObjectStore, first: number): Promise<ReadonlyMap<number, number>> {
  const listed = await objects.list(`${LEDGER}/`, `${LEDGER}/${entryName(first - 1)}`);
  return new Map(listed.map(({ key, putAt }) => [Number.parseInt(key.slice(LEDGER.length + 1), 10), putAt]));
}
