import { isFullDay } from '../../chain/day-spans.ts';
import type { Registry } from '../../declare/registry.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import type { LedgerEntry } from '../store.ts';
import { readHeaderDays } from './header-days.ts';

/** Seconds since 1970, from `from` to before `to`; undefined for an open end. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The time of one UTC day of which the warehouse has block headers, and their masterchain blocks. */
export interface DayTime {
  readonly date: string;
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly last: number;
}

/** Seconds of a day. */
export const DAY = 86_400;

/** The times of a warehouse, in order: a full day, or from its first to its last block if the warehouse lacks the blocks around it. */
export async function readDayTimes(
  query: Query,
  ledger: readonly LedgerEntry[],
  registry: Registry,
): Promise<readonly DayTime[]> {
  const days = [...(await readHeaderDays(query, ledger, registry))].sort(([a], [b]) => (a < b ? -1 : 1));
  const partial = days.filter(([, day]) => !isFullDay(day)).map(([date]) => `DATE ${quoteText(date)}`);
  const ends = new Map<string, readonly [first: number, last: number]>();
  if (partial.length > 0) {
    const { rows } = await query(
      `SELECT block_date::VARCHAR, min(gen_utime), max(gen_utime) FROM _headers
       WHERE workchain = -1 AND block_date IN (${partial.join(', ')}) GROUP BY ALL`,
    );
    for (const [date, first, last] of rows) ends.set(String(date), [Number(first), Number(last)]);
  }
  return days.flatMap(([date, day]) => {
    const [midnight, next] = [dayStart(date), dayStart(date) + DAY];
    const { from: first, to: last, hasStart, hasEnd } = day;
    const known = isFullDay(day) ? [midnight, next - 1] : ends.get(date);
    // Shard blocks of the day before, in a masterchain block of this one, are no part of that day.
    if (known === undefined) return [];
    const [begins = midnight, end = midnight] = known;
    return [{ date, from: hasStart ? midnight : begins, to: hasEnd ? next : end + 1, first, last }];
  });
}

/** Seconds at which a UTC day begins. */
export function dayStart(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** A UTC time as `2026-05-01 23:33:20`. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** The UTC days of a period: `2026-05-01`, `2026-05-01:2026-05-07`, `all since 2026-05-01`, `all before 2026-05-01`. */
export function daysText({ from, to }: Period): string {
  if (to === undefined) return from === undefined ? 'all' : `all since ${dayText(from)}`;
  if (from === undefined) return `all before ${dayText(to)}`;
  const [first, last] = [dayText(from), dayText(to - 1)];
  return first === last ? first : `${first}:${last}`;
}
