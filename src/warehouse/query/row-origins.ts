import { addSources, sourcesOf } from '../ledger/copied-rows.ts';
import { filesByDay } from '../ledger/entries-in.ts';
import type { LedgerEntry, TableFile } from '../store.ts';

/**
 * Identifies the commits in which rows of a table were new: 16 hex digits, which merging entries does not change.
 * @param dates UTC days of the rows, beside rows without a day; undefined for all
 */
export function originOf(entries: readonly LedgerEntry[], table: string, dates: readonly string[] | undefined): string {
  const sources = entries.flatMap((entry) => {
    const own = entry.tables[table];
    if (own === undefined) return [];
    const { rows, files } = own;
    if (files.length === 0) return rows === 0 ? [] : [sourcesOf(entry)];
    const ofDates = (): readonly TableFile[] =>
      [undefined, ...new Set(dates)].flatMap((date) => filesByDay(own).get(date) ?? []);
    return (dates === undefined ? files : ofDates()).map((file) => sourcesOf(entry, file));
  });
  return addSources(sources).origin;
}
