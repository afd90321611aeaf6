import { UsageError } from '../core/errors.ts';
import type { Query } from '../sql/query-result.ts';
import { formatTime } from './range.ts';
import type { ChainBounds } from './range-part.ts';

/**
 * Where times stand among the headers that a warehouse holds. A time is held only where the blocks around it are: a hole there could
 * hide blocks on either side.
 *
 * @param headers SQL after FROM for the headers; default those of the warehouse
 */
export function heldTimes(
  query: Query,
  headers = '_headers',
): Pick<ChainBounds, 'firstSince' | 'lastBefore' | 'blockTime'> {
  const first = async (sql: string, parameters: Readonly<Record<string, unknown>>): Promise<number | undefined> => {
    const { rows } = await query(sql, parameters);
    const value = rows[0]?.[0];
    return value === null || value === undefined ? undefined : Number(value);
  };
  const masterchain = `(SELECT seqno, gen_utime FROM ${headers} WHERE workchain = -1)`;
  const notHeld = async (ms: number): Promise<UsageError> => {
    const [from, to] = [
      await first(`SELECT min(gen_utime) FROM ${masterchain}`, {}),
      await first(`SELECT max(gen_utime) FROM ${masterchain}`, {}),
    ];
    const isEmpty = from === undefined || to === undefined;
    return new UsageError(`usage: expected a time that the warehouse has, got ${formatTime(ms)}`, {
      code: 'wrong-range',
      hint: isEmpty
        ? 'it has no block headers'
        : `it has blocks of ${formatTime(from * 1000)} to ${formatTime(to * 1000)}`,
    });
  };
  const firstSince = async (ms: number): Promise<number> => {
    const found = await first(
      `WITH headers AS (
        SELECT seqno, gen_utime, lag(seqno) OVER by_seqno AS seqno_before, lag(gen_utime) OVER by_seqno AS before
        FROM ${masterchain} WINDOW by_seqno AS (ORDER BY seqno)
      ), next AS (SELECT * FROM headers WHERE gen_utime >= $utime::BIGINT ORDER BY seqno LIMIT 1)
      SELECT seqno FROM next WHERE seqno <= 1 OR seqno_before = seqno - 1 OR gen_utime - $utime::BIGINT <=
        (SELECT max(gen_utime - before) FROM headers WHERE seqno_before = seqno - 1)`,
      { utime: Math.ceil(ms / 1000) },
    );
    if (found === undefined) throw await notHeld(ms);
    return found;
  };
  return {
    firstSince,
    lastBefore: async (ms) => {
      const utime = Math.ceil(ms / 1000);
      const next = await first(
        `SELECT seqno FROM ${masterchain} h WHERE gen_utime >= $utime::BIGINT
          AND EXISTS (SELECT 1 FROM ${masterchain} b WHERE b.seqno = h.seqno - 1 AND b.gen_utime < $utime::BIGINT)`,
        { utime },
      );
      if (next === undefined) throw await notHeld(ms);
      const last = await first(`SELECT max(mc_block_seqno) FROM ${headers} WHERE gen_utime < $utime::BIGINT`, {
        utime,
      });
      return last ?? next;
    },
    blockTime: async (seqno) => {
      const utime = await first(`SELECT gen_utime FROM ${masterchain} WHERE seqno = $seqno::BIGINT`, { seqno });
      if (utime !== undefined) return utime * 1000;
      throw new UsageError(`usage: expected a block that the warehouse has, got ${seqno}`, {
        code: 'wrong-range',
        hint: 'tonlake status shows what it has',
      });
    },
  };
}

/** The day that it is for a network: the sandbox has a clock of its own, that of its newest block. */
export function heldToday(
  network: string,
  now: () => number,
  head: () => Promise<number>,
  times: Pick<ChainBounds, 'blockTime'>,
) {
  return async (): Promise<string> => {
    const ms = network === 'sandbox' ? await times.blockTime(await head()) : now();
    return formatTime(ms).slice(0, 10);
  };
}
