import { type Span, subtractSpans, totalSize } from '../../core/span.ts';
import { comparedRoles } from '../../declare/cross-check.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { RoleName } from '../../declare/roles.ts';
import type { BlockWalk } from '../../declare/walk.ts';
import { doneSpans } from '../../warehouse/index.ts';
import { WINDOW_FILL } from '../block-windows.ts';
import type { Planner, Quote, Quoting } from './quote.ts';
import { quotePlanned } from './quote-planned.ts';

/** Estimates lists of blocks: one request for each, or windows if the transactions will be in the warehouse by then. */
export async function quoteBlocks(
  quoting: Quoting<PipelineOf<BlockWalk>>,
  missing: readonly Span[],
  plan: Planner<PipelineOf<BlockWalk>>,
): Promise<Quote> {
  const quote = await quotePlanned(quoting, missing, plan);
  const { endpoint, walk } = quoting.context.pipeline;
  const path = endpoint.replace(/^[A-Z]+ /, '');
  const requests = quote.requests[path] ?? 0;
  if (walk.limit === undefined || !isInWindows(quoting, missing)) return quote;
  const windows = Math.min(requests, Math.ceil(quote.rows / (walk.limit * WINDOW_FILL)) + missing.length);
  // Blocks that lack rows are requested again by themselves.
  const band = Math.min(quote.band, Math.ceil(windows + totalSize(missing) / 10));
  return { ...quote, requests: { ...quote.requests, [path]: windows }, band };
}

function isInWindows({ context, ledger }: Quoting<PipelineOf<BlockWalk>>, missing: readonly Span[]): boolean {
  const { pipeline, pipelines, registry, mode } = context;
  const { walk, crossCheck } = pipeline;
  if (!walk.windows || mode === 'masterchain' || crossCheck === undefined) return false;
  const roles: readonly RoleName[] = ['headers', ...comparedRoles(crossCheck)];
  return roles.every((role) => {
    const { name } = registry.playing(role).pipeline;
    const isRun = pipelines.some((each) => each.name === name);
    return isRun || subtractSpans(missing, doneSpans(ledger, name)).length === 0;
  });
}
