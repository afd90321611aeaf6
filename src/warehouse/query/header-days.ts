import { type DaySpan, readDaySpans } from '../../chain/day-spans.ts';
import { intersectSpans, type Span, unionSpans } from '../../core/span.ts';
import type { Registry } from '../../declare/registry.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import { dateIn } from '../file-layout.ts';
import { spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/**
 * As `readDaySpans`, by the bounds of files where entries have them. A row is not later than the masterchain block that includes it, so the
 * least masterchain block of a date's rows is the first one of that date.
 */
export async function readHeaderDays(
  query: Query,
  ledger: readonly LedgerEntry[],
  registry: Registry,
): Promise<ReadonlyMap<string, DaySpan>> {
  const bounded = boundsOfDays(ledger, registry.playing('headers').table.name);
  if (bounded === undefined) return readDaySpans(query);
  const days = [...bounded.days].sort(([a], [b]) => (a < b ? -1 : 1));
  const before = intersectSpans(
    days.map(([, { from }]) => ({ from: from - 1, to: from - 1 })),
    bounded.held,
  );
  const followsHeld = (from: number): boolean => before.some((span) => span.from < from && from <= span.to + 1);
  const found = new Map<string, DaySpan>();
  for (const [at, [date, { from, to }]] of days.entries()) {
    const next = days[at + 1]?.[1];
    // Rows that do not keep to that order.
    if (next !== undefined && next.from <= from) return readDaySpans(query);
    const follows = from <= 1 || (at > 0 && followsHeld(from));
    const hasEnd = next !== undefined && followsHeld(next.from);
    const hasStart = follows || (hasEnd && (await startsAtMidnight(query, date)));
    found.set(date, { from, to, hasStart, hasEnd });
  }
  return found;
}

/** First and last masterchain block of each date, and all that are there; undefined if the entries do not tell. */
function boundsOfDays(
  ledger: readonly LedgerEntry[],
  table: string,
): { readonly days: ReadonlyMap<string, Span>; readonly held: readonly Span[] } | undefined {
  const days = new Map<string, Span>();
  const held: Span[] = [];
  for (const entry of ledger) {
    const files = entry.tables[table]?.files;
    if (files === undefined) continue;
    if (entry.verdict !== 'accepted' || entry.scope !== undefined || files.length === 0) return undefined;
    held.push(...spansOf(entry));
    for (const { path, bounds } of files) {
      const [date, [least, greatest] = []] = [dateIn(path), bounds['mc_block_seqno']];
      if (date === undefined || typeof least !== 'string' || typeof greatest !== 'string') return undefined;
      const { from, to } = days.get(date) ?? { from: Infinity, to: 0 };
      days.set(date, { from: Math.min(from, Number(least)), to: Math.max(to, Number(greatest)) });
    }
  }
  return { days, held: unionSpans(held) };
}

/** True if the first block of a day is no later after midnight than the largest gap between its neighbouring blocks. */
async function startsAtMidnight(query: Query, date: string): Promise<boolean> {
  const { rows } = await query(
    `SELECT min(gen_utime) - epoch(DATE ${quoteText(date)})::BIGINT <= coalesce(max(gap), 0) FROM (
       SELECT gen_utime, CASE WHEN lag(seqno) OVER by_seqno = seqno - 1 THEN gen_utime - lag(gen_utime) OVER by_seqno END AS gap
       FROM _headers WHERE workchain = -1 AND block_date = DATE ${quoteText(date)} WINDOW by_seqno AS (ORDER BY seqno))`,
  );
  return rows[0]?.[0] === true;
}
