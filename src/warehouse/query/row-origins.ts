import { dateIn } from '../file-layout.ts';
import { addSources, sourcesOf } from '../ledger/copied-rows.ts';
import type { LedgerEntry } from '../store.ts';

/**
 * Says which commits brought the rows that entries have of a table: 16 hex digits, which are the same before and after entries are merged.
 * @param dates UTC days of the rows, beside rows without a day; undefined for all
 */
export function originOf(entries: readonly LedgerEntry[], table: string, dates: readonly string[] | undefined): string {
  const sources = entries.flatMap((entry) => {
    const { rows = 0, files = [] } = entry.tables[table] ?? {};
    if (files.length === 0) return rows === 0 ? [] : [sourcesOf(entry)];
    const isOf = (date: string | undefined): boolean =>
      dates === undefined || date === undefined || dates.includes(date);
    return files.filter(({ path }) => isOf(dateIn(path))).map((file) => sourcesOf(entry, file));
  });
  return addSources(sources).origin;
}
