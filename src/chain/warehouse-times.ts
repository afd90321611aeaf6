import { type UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { formatTime } from '../core/time-zone.ts';
import { firstNumber } from '../sql/first-number.ts';
import type { Query } from '../sql/query-result.ts';
import type { ChainBounds } from './range-part.ts';

/**
 * Resolves times by the headers in a warehouse. A time is known only if the blocks on both sides of it are stored without a gap.
 *
 * @param headers SQL after FROM; default the headers of the warehouse
 */
export function warehouseTimes(
  query: Query,
  headers = '_headers',
): Pick<ChainBounds, 'firstSince' | 'lastBefore' | 'blockTime'> {
  const masterchain = `(SELECT seqno, gen_utime FROM ${headers} WHERE workchain = -1)`;
  const notStored = async (ms: number): Promise<UsageError> => {
    const from = await firstNumber(query, `SELECT min(gen_utime) FROM ${masterchain}`);
    const to = await firstNumber(query, `SELECT max(gen_utime) FROM ${masterchain}`);
    const isEmpty = from === undefined || to === undefined;
    return usage(
      'a time that the warehouse has',
      formatTime(ms),
      isEmpty ? 'it has no block headers' : `it has blocks of ${formatTime(from * 1000)} to ${formatTime(to * 1000)}`,
      { code: 'not-stored' },
    );
  };
  const firstSince = async (ms: number): Promise<number> => {
    const found = await firstNumber(
      query,
      `WITH headers AS (
        SELECT seqno, gen_utime, lag(seqno) OVER by_seqno AS seqno_before, lag(gen_utime) OVER by_seqno AS before
        FROM ${masterchain} WINDOW by_seqno AS (ORDER BY seqno)
      ), next AS (SELECT * FROM headers WHERE gen_utime >= $utime::BIGINT ORDER BY seqno LIMIT 1)
      SELECT seqno FROM next WHERE seqno <= 1 OR seqno_before = seqno - 1 OR gen_utime - $utime::BIGINT <=
        (SELECT max(gen_utime - before) FROM headers WHERE seqno_before = seqno - 1)`,
      { utime: Math.ceil(ms / 1000) },
    );
    if (found === undefined) throw await notStored(ms);
    return found;
  };
  return {
    firstSince,
    lastBefore: async (ms) => {
      const utime = Math.ceil(ms / 1000);
      const next = await firstNumber(
        query,
        `SELECT seqno FROM ${masterchain} h WHERE gen_utime >= $utime::BIGINT
          AND EXISTS (SELECT 1 FROM ${masterchain} b WHERE b.seqno = h.seqno - 1 AND b.gen_utime < $utime::BIGINT)`,
        { utime },
      );
      if (next === undefined) throw await notStored(ms);
      const last = await firstNumber(
        query,
        `SELECT max(mc_block_seqno) FROM ${headers} WHERE gen_utime < $utime::BIGINT`,
        {
          utime,
        },
      );
      return last ?? next;
    },
    blockTime: async (seqno) => {
      const utime = await firstNumber(query, `SELECT gen_utime FROM ${masterchain} WHERE seqno = $seqno::BIGINT`, {
        seqno,
      });
      if (utime !== undefined) return utime * 1000;
      throw usage('a block that the warehouse has', seqno, `${suggest('status')} shows what it has`, {
        code: 'not-stored',
      });
    },
  };
}

/** Today's date. For the sandbox it is the date of the latest block. */
export function warehouseToday(
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
