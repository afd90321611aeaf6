import { type LedgerEntry, spansOf, sumKeyHashes } from '../warehouse/index.ts';
import type { EarlierEntry, EntryPast } from './explanation.ts';

/**
 * What the commits before an entry did to the rows of a table.
 *
 * @param block the row's masterchain block: only entries that cover it count
 */
export function pastOf(
  history: readonly LedgerEntry[],
  entry: LedgerEntry,
  table: string,
  block: number | undefined,
): EntryPast {
  const byId = new Map(history.map((each) => [each.id, each]));
  const covers = (each: LedgerEntry): boolean =>
    block === undefined || spansOf(each).some(({ from, to }) => from <= block && block <= to);
  const before = (of: LedgerEntry): readonly LedgerEntry[] =>
    of.supersedes.flatMap((id) => byId.get(id) ?? []).filter((each) => each.id !== of.id);
  const merges = (of: LedgerEntry): boolean => isMerged(of, before(of), table);
  const mergedFrom: EarlierEntry[] = [];
  const replaced: EarlierEntry[] = [];
  const visit = (of: LedgerEntry, isMerge: boolean): void => {
    const covering = before(of).filter(covers);
    if (!isMerge) replaced.push(...covering.map(earlier));
    for (const each of covering) {
      const isMergeToo = merges(each);
      if (isMerge && !isMergeToo) mergedFrom.push(earlier(each));
      visit(each, isMergeToo);
    }
  };
  visit(entry, merges(entry));
  return { mergedFrom, replaced };
}

function earlier({ number, committedAt }: LedgerEntry): EarlierEntry {
  return { number, committedAt };
}

/** True if an entry has exactly the rows of those that it supersedes, by number and key hash: `compact` copied them. */
function isMerged(entry: LedgerEntry, before: readonly LedgerEntry[], table: string): boolean {
  const own = entry.tables[table];
  const parts = before.flatMap(({ tables }) => tables[table] ?? []);
  if (own === undefined || before.length < 2 || before.length !== entry.supersedes.length) return false;
  const requests = before.reduce((total, each) => total + each.requests, 0);
  const rows = parts.reduce((total, part) => total + part.rows, 0);
  return requests === entry.requests && rows === own.rows && sumKeyHashes(parts) === own.keyHash;
}
