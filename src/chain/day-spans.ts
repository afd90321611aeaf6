import type { Span } from '../core/span.ts';
import type { Query } from '../sql/query-result.ts';

/** The masterchain blocks that have rows of a UTC day. */
export interface DaySpan extends Span {
  /** True if the warehouse has the blocks around the start of the day. */
  readonly hasStart: boolean;
  /** The same of its end. */
  readonly hasEnd: boolean;
}

/**
 * The days of the headers in a warehouse. A day has its end if its last block is followed by a block of the next day, and its start if its
 * first block follows a block of the day before, is the first of the chain, or is no later after midnight than the largest gap between
 * neighbouring blocks.
 *
 * @param headers SQL after FROM; default the headers of the warehouse
 */
export async function readDaySpans(query: Query, headers = '_headers'): Promise<ReadonlyMap<string, DaySpan>> {
  const { rows } = await query(
    `WITH headers AS (
      SELECT workchain, seqno, mc_block_seqno, gen_utime, block_date FROM ${headers}
    ), masterchain AS (
      SELECT seqno, gen_utime, block_date, lag(block_date) OVER by_seqno AS before, lead(block_date) OVER by_seqno AS after,
        lag(seqno) OVER by_seqno AS seqno_before, lead(seqno) OVER by_seqno AS seqno_after,
        CASE WHEN lag(seqno) OVER by_seqno = seqno - 1 THEN gen_utime - lag(gen_utime) OVER by_seqno END AS gap
      FROM headers WHERE workchain = -1 WINDOW by_seqno AS (ORDER BY seqno)
    ), days AS (
      SELECT block_date, coalesce(max(gap), 0) AS gap, min(gen_utime) AS starts,
        bool_or(before < block_date AND seqno_before = seqno - 1) OR min(seqno) <= 1 AS has_start,
        bool_or(after > block_date AND seqno_after = seqno + 1) AS has_end
      FROM masterchain GROUP BY block_date
    ), spans AS (
      SELECT block_date, min(mc_block_seqno) AS first, max(mc_block_seqno) AS last FROM headers GROUP BY block_date
    )
    SELECT block_date::VARCHAR, first, last,
      coalesce(has_start OR (has_end AND starts - epoch(block_date)::BIGINT <= gap), false), coalesce(has_end, false)
    FROM spans LEFT JOIN days USING (block_date) ORDER BY ALL`,
  );
  return new Map(
    rows.map(([date, from, to, hasStart, hasEnd]) => [
      String(date),
      { from: Number(from), to: Number(to), hasStart: hasStart === true, hasEnd: hasEnd === true },
    ]),
  );
}

/** True if the warehouse has all of a day, from midnight to midnight. */
export function isFullDay({ hasStart, hasEnd }: DaySpan): boolean {
  return hasStart && hasEnd;
}
