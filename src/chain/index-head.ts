import * as z from 'zod';
import type { SourceResponse } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { FetchOptions, Source } from '../http/source.ts';
import { type IndexEnds, parseResponse } from './index-ends.ts';

const block = z.object({
  seqno: z.int().nonnegative(),
  gen_utime: z.coerce.number().int().nonnegative(),
  root_hash: z.string(),
});
const schema = z.object({ last: block, first: block });

/** A masterchain block: seqno, hash, and time in milliseconds since 1970. */
export interface MasterBlock {
  readonly seqno: number;
  readonly rootHash: string;
  readonly time: number;
}

/** First and last masterchain block of an index, with their times. */
export interface IndexHead extends IndexEnds {
  readonly head: MasterBlock;
  readonly tail: MasterBlock;
}

/** Fetches both ends of the index in one request. @throws {SourceError}, or the reason of the signal */
export async function fetchHead(source: Source, signal?: AbortSignal): Promise<IndexHead> {
  return source.fetch(
    { path: '/masterchainInfo', query: [] },
    (response) => {
      const { last, first } = parseResponse(schema, response);
      const [head, tail] = [blockOf(last), blockOf(first)];
      return { first: tail.seqno, last: head.seqno, head, tail };
    },
    { signal },
  );
}

const listSchema = z.object({ blocks: z.array(block.extend({ workchain: z.int() })).nullable() });

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
    const found = parseResponse(listSchema, response).blocks?.find(
      (each) => each.workchain === -1 && each.seqno === seqno,
    );
    if (found !== undefined) return blockOf(found);
    const what = `expected the header of block ${seqno}, got a list without it`;
    throw new RetryableFailure(label, { code: 'short-list', what, pause: { kind: 'backoff' } });
  };
  return source.fetch({ path: '/blocks', query, label }, accept, options);
}

function blockOf({ seqno, root_hash: rootHash, gen_utime: utime }: z.infer<typeof block>): MasterBlock {
  return { seqno, rootHash, time: utime * 1000 };
}
