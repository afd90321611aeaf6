import type { Span } from '../../core/span.ts';
import { isProving } from '../../declare/cross-check.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { BlockWalk } from '../../declare/walk.ts';
import { type ItemRequest, nextItems } from '../item-requests.ts';
import { ListProof } from '../list-proof.ts';
import { fixedGiven, fixedQuery, pathOf } from '../page-request.ts';
import { cutAtFinal } from '../span-cuts.ts';
import type { PageReport } from '../span-loader.ts';
import type { SpanWalk } from '../span-walk.ts';
import { stateHeaders } from '../state-proof.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Maximum blocks of a span: bounds memory, and what a killed run fetches again. */
const SPAN_BLOCKS = 500;

/** A page of one block. */
interface BlockRequest extends WalkRequest {
  readonly seqno: number;
  readonly offset: number;
}

type Context = WalkContext<PipelineOf<BlockWalk>>;

/** Every masterchain block is requested by itself. */
export const blockWalk: WalkKind<BlockWalk> = {
  plan: planBlocks,
  walkSpan: blockSpan,
};

function* planBlocks(context: Context, missing: readonly Span[]): Generator<Prepare> {
  const { walk } = context.pipeline;
  const size = Math.min(SPAN_BLOCKS, context.requestsPerSpan);
  const proof = new ListProof(context);
  for (const whole of proof.cut(cutAtFinal(missing, walk.lookBack, context.ends.last))) {
    for (let from = whole.from; from <= whole.to; from += size) {
      yield () => blockSpan(context, { from, to: Math.min(whole.to, from + size - 1) });
    }
  }
}

async function blockSpan(context: Context, span: Span): Promise<SpanWalk<BlockRequest | ItemRequest>> {
  const { ends, pipeline } = context;
  const { walk } = pipeline;
  const isState = walk.limit === undefined;
  const proof = new ListProof(context);
  const isCompared = proof.isComparable(span);
  const states = isState ? await stateHeaders(context, span) : undefined;
  const isProven = isCompared && pipeline.crossCheck !== undefined && isProving(pipeline.crossCheck);
  const byTransactions = isProven ? 'transactions' : 'none';
  const asOf = walk.lookBack > 0 ? { from: ends.last, to: ends.last } : undefined;
  const next = (request: BlockRequest | ItemRequest, page: PageReport): readonly (BlockRequest | ItemRequest)[] => {
    if ('items' in request) return nextItems(context, request, page);
    if (walk.limit === undefined || page.records < walk.limit) return [];
    return [pageOf(context, request.seqno, request.offset + walk.limit)];
  };
  const seqnos = Array.from({ length: span.to - span.from + 1 }, (_, i) => span.from + i);
  return {
    ...{ span, unit: 'block' },
    rows: { block: walk.column, audit: { kind: 'keys', states } },
    async *plan() {
      yield { requests: seqnos.map((seqno) => pageOf(context, seqno, 0)), count: seqnos.length };
    },
    ...(isState && !isCompared ? {} : { next }),
    repair: (seqno) => [pageOf(context, seqno, 0)],
    ...(isCompared ? { compare: (rows, parts) => proof.compareBlocks(rows, parts) } : {}),
    entry: (part) => ({ span: part, asOf, proof: isState ? 'shards' : byTransactions }),
  };
}

function pageOf({ pipeline }: Context, seqno: number, offset: number): BlockRequest {
  const { walk } = pipeline;
  const limit = walk.limit === undefined ? [] : [['limit', String(walk.limit)] as const];
  const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
  return {
    ...{ seqno, offset },
    http: {
      path: pathOf(pipeline),
      query: [[walk.seqno, String(seqno)], ...limit, ...skip, ...fixedQuery(pipeline)],
      missing: 'wait',
      label: `${pipeline.name} ${seqno}`,
    },
    page: { unit: seqno, given: { ...fixedGiven(pipeline), seqno: BigInt(seqno) } },
  };
}
