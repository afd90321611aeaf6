import type { PublishedEntry } from '../warehouse/index.ts';

/** Readers of a snapshot that was current when they began have at least this long. */
const LEAST_MS = 3_600_000;
/** The metadata of a table has all its snapshots, and is written with each of them. */
const MOST_ENTRIES = 100;

/**
 * The oldest published entry that stays readable: those that were replaced less than `keepMs` ago, at least an hour, and at most 100 beyond
 * that hour.
 *
 * @param marks published entries, ascending, not empty; each was replaced when the next one was published
 * @param now milliseconds since 1970
 */
export function oldestKept(marks: readonly PublishedEntry[], now: number, keepMs: number): number {
  const kept = marks.filter((_, at) => {
    const next = marks[at + 1];
    if (next === undefined) return true;
    const isAmongNewest = marks.length - at <= MOST_ENTRIES;
    return now - next.publishedAt < (isAmongNewest ? Math.max(keepMs, LEAST_MS) : LEAST_MS);
  });
  return Math.min(...kept.map(({ number }) => number));
}
