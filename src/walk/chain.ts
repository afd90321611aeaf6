import * as z from 'zod';
import { type Header, parseHeaders } from '../audit/header.ts';
import { SourceError, UsageError } from '../errors.ts';
import type { Answer } from '../source/ask.ts';
import { Setback } from '../source/setback.ts';
import type { Source } from '../source/source.ts';
import type { ChainBounds } from './range.ts';

const infoSchema = z.object({
  last: z.object({ seqno: z.int().nonnegative() }),
  first: z.object({ seqno: z.int().nonnegative() }),
});

const blockTimes = z.object({
  blocks: z.array(z.object({ seqno: z.int(), gen_utime: z.coerce.number() })),
});

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

/** The newest block of every shard at a masterchain block; waits until it is indexed. @throws {SourceError} */
export async function fetchShardState(source: Source, seqno: number, label: string): Promise<readonly Header[]> {
  return source.fetch(
    { path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], missing: 'wait', label },
    (answer) => {
      const headers = parseHeaders(answer.body, answer.request);
      if (headers.some((header) => header.workchain === -1 && header.seqno === seqno)) return headers;
      throw new Setback(label, {
        code: 'short-list',
        what: `the list of shards at block ${seqno} came without the block itself`,
        pause: { kind: 'backoff' },
      });
    },
  );
}

/** What a range may ask of the chain. The head is read once. */
export function chainBounds(source: Source): ChainBounds & { readonly ends: () => Promise<IndexEnds> } {
  let known: Promise<IndexEnds> | undefined;
  const ends = (): Promise<IndexEnds> => {
    known ??= fetchEnds(source);
    return known;
  };
  const head = async (): Promise<number> => (await ends()).last;
  const firstOfDay = async (date: string): Promise<number> => {
    const found = await firstSince(source, startOf(date));
    if (found !== undefined) return found;
    throw new UsageError(`usage: expected a day that the index holds, got ${date}`, {
      code: 'wrong-range',
      hint: `the head is block ${await head()}, which is older`,
    });
  };
  const lastOfDay = async (date: string): Promise<number> => {
    const midnight = startOf(date) + 86_400;
    const next = await firstSince(source, midnight);
    if (next === undefined) return head();
    const last = await head();
    // Late shard blocks bring rows of the day after midnight: read on until every shard has passed it.
    for (let seqno = next; seqno <= last; seqno++) {
      const times = await source.fetch(
        { path: '/masterchainBlockShardState', query: [['seqno', String(seqno)]], missing: 'wait' },
        (answer) => parseAnswer(blockTimes, answer).blocks.map((block) => block.gen_utime),
      );
      if (Math.min(...times) >= midnight) return seqno;
    }
    return last;
  };
  return { ends, head, firstOfDay, lastOfDay };
}

function startOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** The first masterchain block at or after a time. */
async function firstSince(source: Source, utime: number): Promise<number | undefined> {
  const query = [
    ['workchain', '-1'],
    ['start_utime', String(utime)],
    ['sort', 'asc'],
    ['limit', '100'],
  ] as const;
  const blocks = await source.fetch({ path: '/blocks', query }, (answer) => parseAnswer(blockTimes, answer).blocks);
  const earliest = Math.min(...blocks.map((block) => block.gen_utime));
  const seqnos = blocks.filter((block) => block.gen_utime === earliest).map((block) => block.seqno);
  return seqnos.length === 0 ? undefined : Math.min(...seqnos);
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
