import type { Span } from '../core/span.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import type { BlockProblem } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';
import { type PlanSpans, type Prepare, runWalk } from './walk-engine.ts';
import { blockSpan, planBlocks } from './walks/block-walk.ts';
import { planLookups } from './walks/lookup-walk.ts';
import { planLt, replacingLtSpan } from './walks/lt-walk.ts';
import { planMasterchain } from './walks/masterchain-walk.ts';
import { snapshotReading } from './walks/snapshot-walk.ts';
import { widenedContext } from './widen-entry.ts';

/** Blocks to bring in, and entries that are read again because their rows could still change when they were read. */
export interface Due {
  readonly missing: readonly Span[];
  readonly again: readonly LedgerEntry[];
}

/**
 * Brings in what is due, as the kind of its walk does it.
 *
 * @returns what could not be had
 * @throws what made the source unusable
 */
export async function walkDue(context: WalkContext, { missing, again }: Due): Promise<readonly BlockProblem[]> {
  const { walk } = context.pipeline;
  if (walk.kind === 'snapshot') {
    const reading = snapshotReading(context, walk);
    return runWalk(reading.context, () => [async () => reading.walk]);
  }
  const problems: BlockProblem[] = [];
  for (const entry of again) {
    if (context.stop.aborted) return problems;
    const own = widenedContext(context, entry);
    const prepare = replacing(own, entry);
    if (prepare !== undefined) problems.push(...(await runWalk(own, () => [prepare])));
  }
  const plan = planOf(context, missing);
  return plan === undefined ? problems : [...problems, ...(await runWalk(context, plan))];
}

/** The spans of each kind of walk. A new kind is a file in `walks/` and a line here. */
function planOf({ pipeline }: WalkContext, missing: readonly Span[]): PlanSpans | undefined {
  const { walk } = pipeline;
  switch (walk.kind) {
    case 'masterchain':
      return (context) => planMasterchain({ ...context, pipeline: { ...pipeline, walk } }, missing);
    case 'block':
      return (context) => planBlocks(context, walk, missing);
    case 'lt':
      return (context) => planLt(context, walk, missing);
    case 'lookup':
      return (context) => planLookups(context, walk, missing);
    case 'snapshot':
    case 'ephemeral':
      return undefined;
  }
}

/** What reads the span of an entry again and takes its place. */
function replacing(context: WalkContext, { id, span }: LedgerEntry): Prepare | undefined {
  const { walk } = context.pipeline;
  if (walk.kind === 'block') return () => blockSpan(context, walk, span, [id]);
  if (walk.kind === 'lt') return async () => replacingLtSpan(context, walk, span, [id]);
  return undefined;
}
