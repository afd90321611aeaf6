import { type Span, totalSize } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { BlockWalk } from '../../declare/walk.ts';
import { pathOf } from '../page-request.ts';
import type { Planner, Quote, Quoting } from './quote.ts';
import { quotePlanned } from './quote-planned.ts';
import { windowRequests } from './window-requests.ts';

/** Estimates lists of blocks: one request for each, or windows if the transactions will be in the warehouse by then. */
export async function quoteBlocks(
  quoting: Quoting<PipelineOf<BlockWalk>>,
  missing: readonly Span[],
  plan: Planner<PipelineOf<BlockWalk>>,
): Promise<Quote> {
  const quote = await quotePlanned(quoting, missing, plan);
  const { context, ledger } = quoting;
  const path = pathOf(context.pipeline);
  const windows = windowRequests(context, ledger, missing, quote.rows);
  if (windows === undefined) return quote;
  const requests = Math.min(quote.requests[path] ?? 0, windows);
  // Blocks that lack rows are requested again by themselves.
  const band = Math.min(quote.band, Math.ceil(requests + totalSize(missing) / 10));
  return { ...quote, requests: { ...quote.requests, [path]: requests }, band };
}
