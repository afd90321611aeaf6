import type { PublishedEntry } from '../warehouse/index.ts';

/** Minimum time for readers of a snapshot that was current when they started. */
const LEAST_MS = 3_600_000;
/** The metadata of a table lists all its snapshots, and is written for each. */
const MOST_ENTRIES = 100;

/**
 * The oldest published entry that stays readable: those that were replaced less than `keepMs` ago, at least an hour, and at most 100 beyond
 * that hour.
 *
 * @param marks published entries, ascending, not empty; each was replaced when the next one was published
 * @param now milliseconds since 1970
 */
export function oldestKept(marks: readonly PublishedEntry[], now: number, keepMs: number): number {
  const retained = marks.filter((_, at) => {
    const next = marks[at + 1];
    if (next === undefined) return true;
    const isAmongNewest = marks.length - at <= MOST_ENTRIES;
    return now - next.publishedAt < (isAmongNewest ? Math.max(keepMs, LEAST_MS) : LEAST_MS);
  });
  return Math.min(...retained.map(({ number }) => number));
}
