import { sha256Of } from '../core/sha256.ts';
import { hullOf } from '../core/span.ts';
import { selectedTable } from '../declare/selected-table.ts';
import { quoteText } from '../sql/canonical-text.ts';
import type { LedgerEntry, MartStamp, Store } from '../warehouse/index.ts';
import { commitSelect, martEntries } from './commit-mart.ts';

/** The table of offenders. */
export const failuresTable = selectedTable({
  name: 'check_failures',
  grain: 'one row that broke the rule of a check in its last run; at most 1,000 per check and day',
  key: ['check_name', 'day', 'number'],
  isDated: false,
  columns: [
    { name: 'check_name', type: 'VARCHAR', doc: 'check' },
    { name: 'day', type: 'DATE', doc: 'UTC day of the rows that were checked; null for rows of any day' },
    { name: 'number', type: 'BIGINT', doc: 'number of the row within the check and day, from 1' },
    { name: 'offender', type: 'VARCHAR', doc: 'row returned by the check, as JSON' },
  ],
});

/** Findings of a check in the rows of a day, or of any day. */
export interface DayFindings {
  readonly offenders: readonly string[];
  /** Stamp of the rows that passed; undefined if the check failed. */
  readonly passed: string | undefined;
}

/** Entries with earlier findings and stamps, by day; undefined for rows of any day. */
export function failureEntries(store: Store): ReadonlyMap<string | undefined, LedgerEntry> {
  return new Map(martEntries(store.ledger(), failuresTable.name).map((entry) => [entry.mart?.day, entry]));
}

/** Replaces the findings and stamps of the same checks for a day, or for rows of any day. */
export async function commitFindings(
  store: Store,
  network: string,
  day: string | undefined,
  found: ReadonlyMap<string, DayFindings>,
): Promise<void> {
  const before = failureEntries(store).get(day);
  const rows = [
    ...(await keptRows(store, before, found)),
    ...[...found].flatMap(([check_name, { offenders }]) =>
      offenders.map((offender, at) => ({ check_name, day: day ?? null, number: at + 1, offender })),
    ),
  ].sort((a, b) => (a.check_name === b.check_name ? a.number - b.number : a.check_name < b.check_name ? -1 : 1));
  const passed = Object.entries(before?.mart?.passed ?? {}).filter(([name]) => !found.has(name));
  for (const [name, { passed: seen }] of found) if (seen !== undefined) passed.push([name, seen]);
  const text = JSON.stringify(rows);
  const inputs = sha256Of(JSON.stringify([text, passed.sort()]), 16);
  if (before?.mart?.inputs === inputs || (before === undefined && rows.length === 0 && passed.length === 0)) return;
  const structure = [{ check_name: 'VARCHAR', day: 'DATE', number: 'BIGINT', offender: 'VARCHAR' }];
  const select = `SELECT f.check_name, f.day, f.number, f.offender
    FROM (SELECT unnest(from_json(${quoteText(text)}, ${quoteText(JSON.stringify(structure))})) AS f) ORDER BY ALL`;
  const span = hullOf(store.ledger().map((entry) => entry.span)) ?? { from: 0, to: 0 };
  const stamp = async (): Promise<MartStamp> => {
    const through = store.ledger().at(-1)?.number ?? 0;
    const seen = { inputs, coverage: 'proven' as const, reads: [], through, passed: Object.fromEntries(passed) };
    return day === undefined ? seen : { day, ...seen };
  };
  const replaced = before === undefined ? [] : [before];
  await commitSelect(store, store.query, { table: failuresTable, select, span, network, stamp, before: replaced });
}

/** Earlier rows of checks that were not run now. */
async function keptRows(store: Store, before: LedgerEntry | undefined, run: ReadonlyMap<string, unknown>) {
  if ((before?.tables[failuresTable.name]?.rows ?? 0) === 0) return [];
  const day = before?.mart?.day;
  const where = day === undefined ? 'day IS NULL' : `day = DATE ${quoteText(day)}`;
  const { rows } = await store.query(
    `SELECT check_name, number, offender FROM check_failures WHERE ${where} ORDER BY ALL`,
  );
  return rows
    .map(([name, number, offender]) => {
      return { check_name: String(name), day: day ?? null, number: Number(number), offender: String(offender) };
    })
    .filter(({ check_name }) => !run.has(check_name));
}
