import { oncePer } from '../../core/once-per.ts';
import { addSources, sourcesOf } from '../ledger/copied-rows.ts';
import { filesByDay } from '../ledger/entries-in.ts';
import type { CopiedRows, LedgerEntry } from '../store.ts';

/** The sources of an entry's rows, by table and UTC day. Cached, because each check and mart of each day needs them. */
const sourcesByDay = oncePer((entry: LedgerEntry) => {
  const tables = Object.entries(entry.tables).map(([name, own]) => {
    const days = [...filesByDay(own)].map(
      ([date, files]) => [date, addSources(files.map((file) => sourcesOf(entry, file)))] as const,
    );
    return [name, new Map(days)] as const;
  });
  return new Map(tables);
});

/**
 * Identifies the commits in which rows of a table were new: 16 hex digits, which merging entries does not change.
 * @param dates UTC days of the rows, beside rows without a day; undefined for all
 */
export function originOf(entries: readonly LedgerEntry[], table: string, dates: readonly string[] | undefined): string {
  const sources = entries.flatMap((entry): readonly CopiedRows[] => {
    const own = entry.tables[table];
    if (own === undefined) return [];
    if (own.files.length === 0) return own.rows === 0 ? [] : [sourcesOf(entry)];
    const days = sourcesByDay(entry).get(table);
    const wanted = dates === undefined ? days?.keys() : [undefined, ...new Set(dates)];
    return [...(wanted ?? [])].flatMap((date) => days?.get(date) ?? []);
  });
  return addSources(sources).origin;
}
