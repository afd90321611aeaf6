import type { IndexEnds } from '../../chain/index-ends.ts';
import { Decoder } from '../../decode/decoder.ts';
import type { SourceRequest } from '../../http/request.ts';
import type { Source } from '../../http/source.ts';
import type { PageReport } from '../span-loader.ts';
import type { Prepare, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Requests by path. */
export class RequestCounts {
  readonly byPath = new Map<string, number>();

  add(path: string, requests = 1): void {
    this.byPath.set(path, (this.byPath.get(path) ?? 0) + requests);
  }

  get total(): number {
    return [...this.byPath.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** Number of records in the page of a request. */
export type RecordsOf = (request: WalkRequest) => number;

/**
 * Runs the code of a walk without sending its requests: `recordsOf` says how full the pages are.
 *
 * @returns the number of records
 */
export async function dryWalk(
  spans: Iterable<Prepare> | AsyncIterable<Prepare>,
  counts: RequestCounts,
  recordsOf: RecordsOf = () => 0,
): Promise<number> {
  let all = 0;
  for await (const prepare of spans) {
    const walk = await prepare();
    if ('error' in walk) continue;
    let records = 0;
    const follow = async (request: WalkRequest): Promise<void> => {
      counts.add(request.http.path);
      const page = pageOf(request, recordsOf(request));
      records += page.added;
      for (const more of (await walk.next?.(request, page)) ?? []) await follow(more);
    };
    for await (const { requests } of walk.plan()) for (const request of requests) await follow(request);
    await finish(walk, Math.round(records));
    all += records;
  }
  return all;
}

/** Ends a span; the walk plans the next ones by its number of records. */
async function finish(walk: SpanWalk, blocks: number): Promise<void> {
  const nothing = { missing: [], stray: [], unlinked: [], twice: [], older: [], contradicted: [] };
  const stage = async () => ({ staged: { id: '', tables: {} }, discard: async () => {} });
  await walk.audit?.({ links: async () => ({ ...nothing, blocks }), stage, fetch: async () => 0 });
  await walk.entry(walk.span, { refused: 0, isStopped: false });
  walk.onEnd?.();
}

function pageOf({ page: { full = Number.POSITIVE_INFINITY, overflow } }: WalkRequest, records: number): PageReport {
  const isTaken = records < full || overflow === 'keep';
  return {
    ...{ records, isTaken, added: isTaken ? records : 0, loaded: 0 },
    ...{ refused: [], unknown: [], without: [] },
  };
}

/** The chain that a simulated source answers from. */
export interface DryChain {
  readonly ends: IndexEnds;
  /** Blocks in the state of the shards. */
  readonly shards: number;
  /** Logical time at which a masterchain block ends. */
  readonly ltAt: (seqno: number) => bigint;
}

/** A source for planning, which sends nothing: it answers with the head and with shard states. */
export function drySource(real: Source, { ends, shards, ltAt }: DryChain, counts: RequestCounts): Source {
  const blockAt = (seqno: number, workchain: number) => ({
    ...{ workchain, shard: '8000000000000000', seqno, masterchain_block_ref: { seqno }, tx_count: 0 },
    ...{ start_lt: String(ltAt(seqno)), end_lt: String(ltAt(seqno)) },
  });
  const answerTo = ({ path, query }: SourceRequest): unknown => {
    if (path === '/masterchainInfo') return { first: { seqno: ends.first }, last: { seqno: ends.last } };
    const seqno = Number(query.find(([name]) => name === 'seqno' || name === 'mc_seqno')?.[1]);
    const others = Array.from({ length: Math.max(1, shards - 1) }, () => blockAt(seqno, 0));
    return { blocks: [blockAt(seqno, -1), ...others] };
  };
  return {
    rps: real.rps,
    hasMadeUpHashes: real.hasMadeUpHashes,
    counts: real.counts,
    close: async () => {},
    fetch: async (http, accept) => {
      counts.add(http.path);
      const body = Buffer.from(JSON.stringify(answerTo(http)));
      return accept({ status: 200, body, wireBytes: body.length, request: http.path });
    },
  };
}

/** A page of the real source. */
export interface SamplePage {
  readonly body: Buffer;
  readonly records: number;
}

/** Requests a page and counts its records. */
export function readPage({ source, pipeline }: Pick<WalkContext, 'source' | 'pipeline'>, http: SourceRequest) {
  return source.fetch({ ...http, label: `plan ${pipeline.name}` }, ({ body }): SamplePage => {
    const { records } = new Decoder(pipeline).decode(body, { read_at: 0n, as_of: 0n, seqno: 0n });
    return { body: Buffer.from(body), records };
  });
}

/** Requests a page, and those that follow from it. */
export async function readWhole(
  context: WalkContext,
  walk: SpanWalk,
  request: WalkRequest,
): Promise<readonly SamplePage[]> {
  const page = await readPage(context, request.http);
  const more = (await walk.next?.(request, pageOf(request, page.records))) ?? [];
  const others = await Promise.all(more.map((each) => readWhole(context, walk, each)));
  return [page, ...others.flat()];
}
