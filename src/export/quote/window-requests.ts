import { type Span, subtractSpans } from '../../core/span.ts';
import { comparedRoles } from '../../declare/cross-check.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { RoleName } from '../../declare/roles.ts';
import { doneSpans, type LedgerEntry } from '../../warehouse/index.ts';
import { WINDOW_FILL } from '../block-windows.ts';
import type { WalkContext } from '../walk-context.ts';

/**
 * About how many windows a list of blocks takes; undefined if its blocks are requested one by one, because the transactions of the missing
 * ones will not be in the warehouse.
 */
export function windowRequests(
  {
    pipeline,
    pipelines,
    registry,
    mode,
  }: Pick<WalkContext<PipelineDef>, 'pipeline' | 'pipelines' | 'registry' | 'mode'>,
  ledger: readonly LedgerEntry[],
  missing: readonly Span[],
  rows: number,
): number | undefined {
  const { walk, crossCheck } = pipeline;
  if (walk.kind !== 'block' || walk.windows === undefined) return undefined;
  if (mode === 'masterchain' || crossCheck === undefined) return undefined;
  const roles: readonly RoleName[] = ['headers', ...comparedRoles(crossCheck)];
  const isProven = roles.every((role) => {
    const { name } = registry.playing(role).pipeline;
    const isRun = pipelines.some((each) => each.name === name);
    return isRun || subtractSpans(missing, doneSpans(ledger, name)).length === 0;
  });
  return isProven ? Math.ceil(rows / (walk.windows.limit * WINDOW_FILL)) + missing.length : undefined;
}
