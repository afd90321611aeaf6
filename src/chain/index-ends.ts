import * as z from 'zod';
import type { Effects } from '../core/effects.ts';
import { SourceError, type UsageError, usage, WalkError } from '../core/errors.ts';
import { least } from '../core/span.ts';
import { addDays, dateAt, dayStart, formatTime } from '../core/time-zone.ts';
import type { SourceRequest, SourceResponse } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { FetchOptions, Source } from '../http/source.ts';
import { type NamedHeader, parseHeaders } from './headers.ts';
import type { ChainBounds } from './range-part.ts';

const infoSchema = z.object({
  last: z.object({ seqno: z.int().nonnegative() }),
  first: z.object({ seqno: z.int().nonnegative() }),
});

const blockTimes = z.object({
  blocks: z.array(z.object({ workchain: z.int(), seqno: z.int(), gen_utime: z.coerce.number() })).nullable(),
});

type BlockTimes = NonNullable<z.infer<typeof blockTimes>['blocks']>;

/** @throws {SourceError} `short-list`, retryable, for null instead of a list */
function parseTimes(response: SourceResponse, label: string): BlockTimes {
  const { blocks } = parseResponse(blockTimes, response);
  if (blocks !== null) return blocks;
  const what = 'expected a list of blocks, got null';
  throw new RetryableFailure(label, { code: 'short-list', what, pause: { kind: 'backoff' } });
}

/** First and last masterchain seqno of an index. Blocks below the last can still be missing for a while. */
export interface IndexEnds {
  readonly first: number;
  readonly last: number;
}

/** @throws {SourceError} */
export async function fetchEnds(source: Source, options: FetchOptions = {}): Promise<IndexEnds> {
  const accept = (response: SourceResponse): IndexEnds => {
    const info = parseResponse(infoSchema, response);
    return { first: info.first.seqno, last: info.last.seqno };
  };
  return source.fetch({ path: '/masterchainInfo', query: [] }, accept, options);
}

const headSchema = z.object({ last: z.object({ gen_utime: z.coerce.number().int().positive() }) });

/** Time of the latest masterchain block of the index, in milliseconds since 1970. @throws {SourceError} */
export async function fetchHeadTime(source: Source): Promise<number> {
  return source.fetch(
    { path: '/masterchainInfo', query: [] },
    (response) => parseResponse(headSchema, response).last.gen_utime * 1000,
  );
}

export interface StateOptions {
  readonly signal?: AbortSignal | undefined;
  /** If the block is not indexed: wait for it (default), or fail with `not-found`. */
  readonly missing?: 'wait' | 'fail' | undefined;
}

/** The latest block of every shard at a masterchain block. @throws {SourceError}, or the reason of the signal */
export async function fetchShardState(
  source: Source,
  seqno: number,
  label: string,
  { signal, missing = 'wait' }: StateOptions = {},
): Promise<readonly NamedHeader[]> {
  const request = { ...stateRequest(seqno), label, missing: missing === 'wait' ? missing : undefined };
  return source.fetch(
    request,
    (response) => {
      const headers = parseHeaders(response.body, response.request);
      if (headers.some((header) => header.workchain === -1 && header.seqno === seqno)) return headers;
      throw shortList(seqno, label);
    },
    { signal },
  );
}

function stateRequest(seqno: number): SourceRequest {
  return { path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], missing: 'wait' };
}

/** Time of a masterchain block, in milliseconds since 1970; waits until it is indexed. @throws {SourceError} */
export async function fetchBlockTime(source: Source, seqno: number): Promise<number> {
  const label = `block ${seqno}`;
  return source.fetch(stateRequest(seqno), (response) => {
    const own = parseTimes(response, label).find((block) => block.workchain === -1 && block.seqno === seqno);
    if (own === undefined) throw shortList(seqno, label);
    return own.gen_utime * 1000;
  });
}

function shortList(seqno: number, label: string): RetryableFailure {
  return new RetryableFailure(label, {
    code: 'short-list',
    what: `the shard list of block ${seqno} lacks the block itself`,
    pause: { kind: 'backoff' },
  });
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
  { zone = 'UTC', isOver = false, now = () => fetchHeadTime(source) }: DayOptions = {},
): ChainBounds & {
  readonly ends: () => Promise<IndexEnds>;
  /** Requested days and times whose end the index has not reached yet. */
  readonly openDays: readonly string[];
} {
  const openDays: string[] = [];
  const startOf = (date: string): number => Math.floor(dayStart(date, zone) / 1000);
  let known: Promise<IndexEnds> | undefined;
  const ends = (): Promise<IndexEnds> => {
    known ??= fetchEnds(source);
    return known;
  };
  const head = async (): Promise<number> => (await ends()).last;
  const notIndexed = (what: string, hint: string): UsageError =>
    usage(`a ${what.includes('T') ? 'time' : 'day'} that the index has`, what, {
      code: 'wrong-range',
      hint,
    });
  const older = async (): Promise<string> => {
    const day = dateAt(await fetchHeadTime(source), zone);
    return `the head is block ${await head()} of ${day}`;
  };
  const firstOfDay = async (date: string): Promise<number> => {
    const found = await firstSince(source, startOf(date));
    if (found === undefined) throw notIndexed(date, await older());
    const { seqno, time } = found;
    if (time < startOf(addDays(date, 1))) return seqno;
    throw notIndexed(date, `the next block is ${seqno} of ${dateAt(time * 1000, zone)}`);
  };
  const firstAt = async (ms: number): Promise<number> => {
    const found = await firstSince(source, Math.ceil(ms / 1000));
    if (found === undefined) throw notIndexed(formatTime(ms), await older());
    const { first } = await ends();
    // There are no blocks before the first block of a chain.
    if (found.seqno > first || first <= 1 || found.time * 1000 === ms) return found.seqno;
    throw notIndexed(formatTime(ms), `the index begins at block ${first} of ${formatTime(found.time * 1000)}`);
  };
  /** The last block before a time in seconds, at which `what` ends. */
  const lastUntil = async (utime: number, what: string): Promise<number> => {
    const next = await firstSince(source, utime);
    if (next === undefined && isOver) throw notOver(what, zone, await head());
    if (next === undefined) {
      openDays.push(what);
      return head();
    }
    const { first, last } = await ends();
    if (next.seqno <= first) {
      const begins = what.includes('T') ? formatTime(next.time * 1000) : dateAt(next.time * 1000, zone);
      throw notIndexed(what, `the index begins at block ${first} of ${begins}`);
    }
    // Late shard blocks have rows from before that time: continue until every shard has passed it.
    for (let { seqno } = next; seqno <= last; seqno++) {
      const times = await source.fetch(stateRequest(seqno), (response) =>
        parseTimes(response, `block ${seqno}`).map((block) => block.gen_utime),
      );
      if (least(times) >= utime) return seqno;
    }
    if (isOver) throw notOver(what, zone, last);
    openDays.push(what);
    return last;
  };
  return {
    ends,
    head,
    firstOfDay,
    openDays,
    lastOfDay: (date) => lastUntil(startOf(addDays(date, 1)), date),
    firstSince: firstAt,
    lastBefore: (ms) => lastUntil(Math.ceil(ms / 1000), formatTime(ms)),
    blockTime: (seqno) => fetchBlockTime(source, seqno),
    today: async () => dateAt(await now(), zone),
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

/** The first masterchain block at or after a time; both times in seconds since 1970. */
async function firstSince(
  source: Source,
  utime: number,
): Promise<{ readonly seqno: number; readonly time: number } | undefined> {
  const query = [
    ['workchain', '-1'],
    ['start_utime', String(utime)],
    ['sort', 'asc'],
    ['limit', '100'],
  ] as const;
  const blocks = await source.fetch({ path: '/blocks', query }, (response) => parseTimes(response, 'blocks'));
  const time = least(blocks.map((block) => block.gen_utime));
  const seqnos = blocks.filter((block) => block.gen_utime === time).map((block) => block.seqno);
  return seqnos.length === 0 ? undefined : { seqno: least(seqnos), time };
}

/** Parses a small response. @throws {SourceError} retryable if it is not JSON */
export function parseResponse<T>(schema: z.ZodType<T>, response: SourceResponse): T {
  let parsed: unknown;
  try {
    parsed = JSON.parse(response.body.toString());
  } catch (cause) {
    throw new SourceError(`source: expected JSON from ${response.request}, got other text`, {
      code: 'not-json',
      retryable: true,
      cause,
    });
  }
  const result = schema.safeParse(parsed);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const place = `/${issue?.path.join('/') ?? ''}`;
  throw new SourceError(
    `source: expected another shape from ${response.request} at ${place}: ${issue?.message ?? ''}`,
    {
      code: 'wrong-shape',
      hint: 'is this the base URL of a TON Index v3 API? it ends in /api/v3',
    },
  );
}
