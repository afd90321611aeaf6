import * as z from 'zod';
import { type NamedHeader, parseHeaders } from '../audit/header.ts';
import { SourceError, UsageError, WalkError } from '../errors.ts';
import type { Answer } from '../source/ask.ts';
import { Setback } from '../source/setback.ts';
import type { Source } from '../source/source.ts';
import { least } from '../span.ts';
import { addDays, dateAt, dayStart } from '../zone.ts';
import type { ChainBounds } from './range.ts';

const infoSchema = z.object({
  last: z.object({ seqno: z.int().nonnegative() }),
  first: z.object({ seqno: z.int().nonnegative() }),
});

const blockTimes = z.object({
  blocks: z.array(z.object({ workchain: z.int(), seqno: z.int(), gen_utime: z.coerce.number() })).nullable(),
});

type BlockTimes = NonNullable<z.infer<typeof blockTimes>['blocks']>;

/** Null in the place of a list is no answer. @throws {SourceError} `short-list`, retryable */
function parseTimes(answer: Answer, label: string): BlockTimes {
  const { blocks } = parseAnswer(blockTimes, answer);
  if (blocks !== null) return blocks;
  const what = 'expected a list of blocks, got null';
  throw new Setback(label, { code: 'short-list', what, pause: { kind: 'backoff' } });
}

/** First and greatest masterchain seqno of an index. The greatest is no watermark: blocks below it can be missing for a while. */
export interface IndexEnds {
  readonly first: number;
  readonly last: number;
}

/** Asks which masterchain blocks the index holds. @throws {SourceError} */
export async function fetchEnds(source: Source): Promise<IndexEnds> {
  return source.fetch({ path: '/masterchainInfo', query: [] }, (answer) => {
    const info = parseAnswer(infoSchema, answer);
    return { first: info.first.seqno, last: info.last.seqno };
  });
}

const headSchema = z.object({ last: z.object({ gen_utime: z.coerce.number().int().positive() }) });

/** When the newest masterchain block of the index was made, in milliseconds since 1970. @throws {SourceError} */
export async function fetchHeadTime(source: Source): Promise<number> {
  return source.fetch(
    { path: '/masterchainInfo', query: [] },
    (answer) => parseAnswer(headSchema, answer).last.gen_utime * 1000,
  );
}

export interface StateOptions {
  readonly signal?: AbortSignal | undefined;
  /** A block that is not indexed: wait for it (default), or fail with `not-found`. */
  readonly missing?: 'wait' | 'fail' | undefined;
}

/**
 * The newest block of every shard at a masterchain block; waits until it is indexed.
 *
 * @throws {SourceError}, or the reason of the signal
 */
export async function fetchShardState(
  source: Source,
  seqno: number,
  label: string,
  { signal, missing = 'wait' }: StateOptions = {},
): Promise<readonly NamedHeader[]> {
  return source.fetch(
    {
      ...{ path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], label },
      missing: missing === 'wait' ? 'wait' : undefined,
    },
    (answer) => {
      const headers = parseHeaders(answer.body, answer.request);
      if (headers.some((header) => header.workchain === -1 && header.seqno === seqno)) return headers;
      throw shortList(seqno, label);
    },
    signal === undefined ? {} : { signal },
  );
}

/** When a masterchain block was made, in milliseconds since 1970; waits until it is indexed. @throws {SourceError} */
export async function fetchBlockTime(source: Source, seqno: number): Promise<number> {
  return source.fetch(
    { path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], missing: 'wait' },
    (answer) => {
      const own = parseTimes(answer, `block ${seqno}`).find((block) => block.workchain === -1 && block.seqno === seqno);
      if (own === undefined) throw shortList(seqno, `block ${seqno}`);
      return own.gen_utime * 1000;
    },
  );
}

function shortList(seqno: number, label: string): Setback {
  return new Setback(label, {
    code: 'short-list',
    what: `the list of shards at block ${seqno} came without the block itself`,
    pause: { kind: 'backoff' },
  });
}

export interface DayOptions {
  /** Time zone of days. Default UTC. */
  readonly zone?: string | undefined;
  /** Refuses a day that the index has not passed, instead of ending at the head. Default false. */
  readonly isOver?: boolean | undefined;
}

/** What a range may ask of the chain. The head is read once. */
export function chainBounds(
  source: Source,
  { zone = 'UTC', isOver = false }: DayOptions = {},
): ChainBounds & {
  readonly ends: () => Promise<IndexEnds>;
  /** Days that were asked for and whose end the index has not passed yet. */
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
  const notHeld = (date: string, hint: string): UsageError =>
    new UsageError(`usage: expected a day that the index holds, got ${date}`, { code: 'wrong-range', hint });
  const firstOfDay = async (date: string): Promise<number> => {
    const found = await firstSince(source, startOf(date));
    if (found === undefined) throw notHeld(date, `the head is block ${await head()}, which is older`);
    const { seqno, time } = found;
    if (time < startOf(addDays(date, 1))) return seqno;
    throw notHeld(date, `the first block after it is ${seqno}, of ${dateAt(time * 1000, zone)}`);
  };
  const lastOfDay = async (date: string): Promise<number> => {
    const midnight = startOf(addDays(date, 1));
    const next = await firstSince(source, midnight);
    if (next === undefined && isOver) throw notOver(date, zone, await head());
    if (next === undefined) {
      openDays.push(date);
      return head();
    }
    const { first, last } = await ends();
    if (next.seqno <= first)
      throw notHeld(date, `the index begins at block ${first}, of ${dateAt(next.time * 1000, zone)}`);
    // Late shard blocks bring rows of the day after midnight: read on until every shard has passed it.
    for (let { seqno } = next; seqno <= last; seqno++) {
      const times = await source.fetch(
        { path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], missing: 'wait' },
        (answer) => parseTimes(answer, `block ${seqno}`).map((block) => block.gen_utime),
      );
      if (least(times) >= midnight) return seqno;
    }
    if (isOver) throw notOver(date, zone, last);
    openDays.push(date);
    return last;
  };
  return { ends, head, firstOfDay, lastOfDay, openDays };
}

function notOver(date: string, zone: string, head: number): WalkError {
  return new WalkError(
    `walk: expected an index that is past the end of ${date} (${zone}), got one whose head is ${head}`,
    {
      code: 'day-not-over',
      retryable: true,
      hint: 'run it again later: a day is taken when it is whole',
    },
  );
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
  const blocks = await source.fetch({ path: '/blocks', query }, (answer) => parseTimes(answer, 'blocks'));
  const time = least(blocks.map((block) => block.gen_utime));
  const seqnos = blocks.filter((block) => block.gen_utime === time).map((block) => block.seqno);
  return seqnos.length === 0 ? undefined : { seqno: least(seqnos), time };
}

/** Parses a small answer as its schema says. @throws {SourceError} retryable when it is no JSON */
export function parseAnswer<T>(schema: z.ZodType<T>, answer: Answer): T {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer.body.toString());
  } catch (cause) {
    throw new SourceError(`source: expected JSON from ${answer.request}, got text that is not`, {
      code: 'not-json',
      retryable: true,
      cause,
    });
  }
  const result = schema.safeParse(parsed);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const place = `/${issue?.path.join('/') ?? ''}`;
  throw new SourceError(`source: expected another shape from ${answer.request} at ${place}: ${issue?.message ?? ''}`, {
    code: 'wrong-shape',
    hint: 'is this the base address of a TON Index v3 API? it ends in /api/v3',
  });
}
