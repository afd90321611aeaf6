import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
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
  const mergedFrom: EarlierEntry[] = [];
  const replaced: EarlierEntry[] = [];
  const visit = (of: LedgerEntry): void => {
    const before = of.supersedes.flatMap((id) => byId.get(id) ?? []).filter((each) => each.id !== of.id);
    const isMerge = isMerged(of, before, table);
    for (const each of before.filter(covers)) {
      const { number, committedAt } = each;
      if (!isMerge) replaced.push({ number, committedAt });
      else if (each.supersedes.length === 0) mergedFrom.push({ number, committedAt });
      else {
        if (
          !isMerged(
            each,
            each.supersedes.flatMap((id) => byId.get(id) ?? []),
            table,
          )
        )
          mergedFrom.push({ number, committedAt });
        visit(each);
      }
    }
    if (!isMerge) for (const each of before.filter(covers)) visit(each);
  };
  visit(entry);
  return { mergedFrom, replaced };
}

/** True if an entry has exactly the rows of those that it supersedes, by number and key hash: `compact` copied them. */
function isMerged(entry: LedgerEntry, before: readonly LedgerEntry[], table: string): boolean {
  const own = entry.tables[table];
  const parts = before.flatMap(({ tables }) => tables[table] ?? []);
  if (own === undefined || before.length < 2 || before.length !== entry.supersedes.length) return false;
  const requests = before.reduce((total, each) => total + each.requests, 0);
  const rows = parts.reduce((total, part) => total + part.rows, 0);
  const keyHash = BigInt.asUintN(
    64,
    parts.reduce((total, part) => total + BigInt(part.keyHash), 0n),
  );
  return requests === entry.requests && rows === own.rows && keyHash === BigInt(own.keyHash);
}
