import * as z from 'zod';
import { SourceError } from '../core/errors.ts';
import { least } from '../core/span.ts';
import type { SourceResponse } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { FetchOptions, Source } from '../http/source.ts';

const blockSchema = z.object({
  seqno: z.int().nonnegative(),
  gen_utime: z.coerce.number().int().nonnegative(),
  root_hash: z.string(),
});
const infoSchema = z.object({ last: blockSchema, first: blockSchema });
const listSchema = z.object({ blocks: z.array(blockSchema.extend({ workchain: z.int() })).nullable() });

/** A masterchain block: seqno, hash, and time in milliseconds since 1970. */
export interface MasterBlock {
  readonly seqno: number;
  readonly rootHash: string;
  readonly time: number;
}

/** First and last masterchain seqno of an index. Blocks below the last can still be missing for a while. */
export interface IndexEnds {
  readonly first: number;
  readonly last: number;
}

/** First and last masterchain block of an index, with their times. */
export interface IndexHead extends IndexEnds {
  readonly head: MasterBlock;
  readonly tail: MasterBlock;
}

/** Fetches both ends of the index in one request. @throws {SourceError}, or the reason of the signal */
export async function fetchEnds(source: Source, options: FetchOptions = {}): Promise<IndexHead> {
  const accept = (response: SourceResponse): IndexHead => {
    const { last, first } = parseResponse(infoSchema, response);
    const [head, tail] = [blockOf(last), blockOf(first)];
    return { first: tail.seqno, last: head.seqno, head, tail };
  };
  return source.fetch({ path: '/masterchainInfo', query: [] }, accept, options);
}

/** A masterchain block that the index should have. @throws {SourceError} `short-list` if no attempt lists it */
export async function fetchMasterBlock(
  source: Source,
  seqno: number,
  options: FetchOptions = {},
): Promise<MasterBlock> {
  const query = [
    ['workchain', '-1'],
    ['shard', '8000000000000000'],
    ['seqno', String(seqno)],
    ['limit', '1'],
  ] as const;
  const label = `block ${seqno}`;
  const accept = (response: SourceResponse): MasterBlock => {
    const found = masterBlocksIn(response, label).find((each) => each.seqno === seqno);
    if (found !== undefined) return found;
    throw shortList(label, `expected the header of block ${seqno}, got a list without it`);
  };
  return source.fetch({ path: '/blocks', query, label }, accept, options);
}

/**
 * Requires that the index has the block that it calls its last.
 *
 * @throws {SourceError} `short-list` if no attempt shows its header, `other-head` if another block has its seqno; both retryable
 */
export async function requireHead(
  source: Source,
  { seqno, rootHash }: MasterBlock,
  options: FetchOptions = {},
): Promise<void> {
  const found = await fetchMasterBlock(source, seqno, options);
  if (found.rootHash === rootHash) return;
  throw new SourceError(`source block ${seqno}: expected the head with hash ${rootHash}, got ${found.rootHash}`, {
    code: 'other-head',
    retryable: true,
    hint: 'run it again: the servers of the address have different blocks',
  });
}

/**
 * The first masterchain block at or after a time in seconds since 1970; undefined if the head is before it. The block before it must be
 * earlier: a source that leaves out the first rows, or sorts others to the front, is asked again.
 *
 * @throws {SourceError} `short-list` if no attempt begins with that block
 */
export async function fetchFirstSince(
  source: Source,
  utime: number,
  { first, head }: IndexHead,
): Promise<MasterBlock | undefined> {
  const query = [
    ['workchain', '-1'],
    ['start_utime', String(utime)],
    ['sort', 'asc'],
    ['limit', '100'],
  ] as const;
  const isEarly = ({ time }: MasterBlock): boolean => time < utime * 1000;
  const refusal = (got: string): RetryableFailure =>
    shortList('blocks', `expected masterchain blocks from time ${utime} on, got ${got}`);
  const accept = async (response: SourceResponse): Promise<MasterBlock | undefined> => {
    const blocks = masterBlocksIn(response, 'blocks');
    const early = blocks.find(isEarly);
    if (early !== undefined) throw refusal(`block ${early.seqno}, which is earlier`);
    if (blocks.some(({ time }, at) => time < (blocks[at - 1]?.time ?? 0))) throw refusal('some in another order');
    const seqno = least(blocks.map((each) => each.seqno));
    const found = blocks.find((each) => each.seqno === seqno);
    if (found === undefined && !isEarly(head)) throw refusal(`none, although the head ${head.seqno} is one`);
    if (found === undefined || found.seqno <= first) return found;
    // A failure of this request repeats both.
    const before = await fetchMasterBlock(source, found.seqno - 1, { attempts: 1 });
    if (!isEarly(before)) throw refusal(`block ${found.seqno} without block ${before.seqno}, which is one as well`);
    return found;
  };
  return source.fetch({ path: '/blocks', query }, accept);
}

function masterBlocksIn(response: SourceResponse, label: string): readonly MasterBlock[] {
  const { blocks } = parseResponse(listSchema, response);
  if (blocks?.every(({ workchain }) => workchain === -1) === true) return blocks.map(blockOf);
  throw shortList(label, `expected a list of masterchain blocks, got ${blocks === null ? 'null' : 'others'}`);
}

function blockOf({ seqno, root_hash: rootHash, gen_utime: utime }: z.infer<typeof blockSchema>): MasterBlock {
  return { seqno, rootHash, time: utime * 1000 };
}

/** A list that lacks what the index has: to be requested again. */
export function shortList(label: string, what: string): RetryableFailure {
  return new RetryableFailure(label, { code: 'short-list', what, pause: { kind: 'backoff' } });
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
