import type { Effects } from '../core/effects.ts';
import { type UsageError, usage, WalkError } from '../core/errors.ts';
import { least } from '../core/span.ts';
import { addDays, dateAt, dayStart, formatTime } from '../core/time-zone.ts';
import type { Source } from '../http/source.ts';
import { type NamedHeader, parseHeaders } from './headers.ts';
import { fetchEnds, fetchFirstSince, type IndexHead, type MasterBlock, shortList } from './index-head.ts';
import type { ChainBounds } from './range-part.ts';
import { coversAll, FIRST_BLOCKS } from './shards.ts';

export interface StateOptions {
  readonly signal?: AbortSignal | undefined;
  /** If the block is not indexed: wait for it (default), or fail with `not-found`. */
  readonly missing?: 'wait' | 'fail' | undefined;
  /** First block of the index: only states of the blocks right after it may lack shards. Default: any may. */
  readonly first?: number | undefined;
}

/** The latest block of every shard at a masterchain block. @throws {SourceError}, or the reason of the signal */
export async function fetchShardState(
  source: Source,
  seqno: number,
  label: string,
  { signal, missing = 'wait', first = Number.POSITIVE_INFINITY }: StateOptions = {},
): Promise<readonly NamedHeader[]> {
  const query = [['seqno', String(seqno)]] as const;
  return source.fetch(
    { path: '/masterchainBlockShardState', query, label, missing: missing === 'wait' ? missing : undefined },
    (response) => {
      const headers = parseHeaders(response.body, response.request);
      if (!headers.some((header) => header.workchain === -1 && header.seqno === seqno)) {
        throw shortList(label, `the shard list of block ${seqno} lacks the block itself`);
      }
      if (seqno < first + FIRST_BLOCKS || coversAll(headers)) return headers;
      throw shortList(label, `expected the newest block of every shard at block ${seqno}, got only some`);
    },
    { signal },
  );
}

/** Time of a masterchain block, in milliseconds since 1970; waits until it is indexed. @throws {SourceError} */
export async function fetchBlockTime(source: Source, seqno: number): Promise<number> {
  const state = await fetchShardState(source, seqno, `block ${seqno}`);
  return 1000 * least(state.filter(({ workchain }) => workchain === -1).map(({ utime }) => utime));
}

export interface DayOptions {
  /** Time zone of days. Default UTC. */
  readonly zone?: string | undefined;
  /** True to reject a day that is not over, instead of ending at the head. Default false. */
  readonly isOver?: boolean | undefined;
  /** Current time, in milliseconds since 1970. Default: time of the latest block. */
  readonly now?: (() => Promise<number>) | undefined;
}

/** Resolves the ends of a range by requests. The head is read once. */
export function chainBounds(
  source: Source,
  { zone = 'UTC', isOver = false, now }: DayOptions = {},
): ChainBounds & {
  readonly ends: () => Promise<IndexHead>;
  /** Time of the latest block, in milliseconds since 1970. */
  readonly headTime: () => Promise<number>;
  /** Requested days and times whose end the index has not reached yet. */
  readonly openDays: readonly string[];
} {
  const openDays: string[] = [];
  const startOf = (date: string): number => Math.floor(dayStart(date, zone) / 1000);
  let known: Promise<IndexHead> | undefined;
  const ends = (): Promise<IndexHead> => {
    known ??= fetchEnds(source);
    return known;
  };
  const firsts = new Map<number, Promise<MasterBlock | undefined>>();
  /** The first block at or after a time in seconds. */
  const firstSince = async (utime: number): Promise<MasterBlock | undefined> => {
    const known = firsts.get(utime);
    if (known !== undefined) return known;
    const found = fetchFirstSince(source, utime, await ends());
    firsts.set(utime, found);
    // A failure is no answer: the next caller asks again.
    found.catch(() => firsts.delete(utime));
    return found;
  };
  const head = async (): Promise<number> => (await ends()).last;
  const headTime = async (): Promise<number> => (await ends()).head.time;
  const notIndexed = (what: string, hint: string): UsageError =>
    usage(`a ${what.includes('T') ? 'time' : 'day'} that the index has`, what, hint);
  const older = async (): Promise<string> => {
    const day = dateAt(await headTime(), zone);
    return `the head is block ${await head()} of ${day}`;
  };
  const firstOfDay = async (date: string): Promise<number> => {
    const found = await firstSince(startOf(date));
    if (found === undefined) throw notIndexed(date, await older());
    const { seqno, time } = found;
    if (time < 1000 * startOf(addDays(date, 1))) return seqno;
    throw notIndexed(date, `the next block is ${seqno} of ${dateAt(time, zone)}`);
  };
  const firstAt = async (ms: number): Promise<number> => {
    const found = await firstSince(Math.ceil(ms / 1000));
    if (found === undefined) throw notIndexed(formatTime(ms), await older());
    const { first } = await ends();
    // There are no blocks before the first block of a chain.
    if (found.seqno > first || first <= 1 || found.time === ms) return found.seqno;
    throw notIndexed(formatTime(ms), `the index begins at block ${first} of ${formatTime(found.time)}`);
  };
  /** The last block before a time in seconds, at which `what` ends. */
  const lastUntil = async (utime: number, what: string): Promise<number> => {
    const next = await firstSince(utime);
    if (next === undefined && isOver) throw notOver(what, zone, await head());
    if (next === undefined) {
      openDays.push(what);
      return head();
    }
    const { first, last } = await ends();
    if (next.seqno <= first) {
      const begins = what.includes('T') ? formatTime(next.time) : dateAt(next.time, zone);
      throw notIndexed(what, `the index begins at block ${first} of ${begins}`);
    }
    // Late shard blocks have rows from before that time: continue until every shard has passed it.
    for (let { seqno } = next; seqno <= last; seqno++) {
      const state = await fetchShardState(source, seqno, `block ${seqno}`, { first });
      if (least(state.map((block) => block.utime)) >= utime) return seqno;
    }
    if (isOver) throw notOver(what, zone, last);
    openDays.push(what);
    return last;
  };
  return {
    ends,
    head,
    headTime,
    firstOfDay,
    openDays,
    lastOfDay: (date) => lastUntil(startOf(addDays(date, 1)), date),
    firstSince: firstAt,
    lastBefore: (ms) => lastUntil(Math.ceil(ms / 1000), formatTime(ms)),
    blockTime: (seqno) => fetchBlockTime(source, seqno),
    today: async () => dateAt(await (now ?? headTime)(), zone),
  };
}

/** Bounds for ranges of a session. The sandbox has its own clock, other networks use that of this machine. */
export function sessionBounds(
  { network, source }: { readonly network: string; readonly source: Source },
  { now }: Pick<Effects, 'now'>,
) {
  return chainBounds(source, network === 'sandbox' ? {} : { now: async () => now() });
}

function notOver(what: string, zone: string, head: number): WalkError {
  const of = what.includes('T') ? '' : ` (${zone})`;
  return new WalkError(`walk: expected the index to be past the end of ${what}${of}, got head ${head}`, {
    code: 'day-not-over',
    retryable: true,
    hint: 'run it again later: a day is exported when it is over',
  });
}
