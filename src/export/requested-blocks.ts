import { parseRange, resolveRange } from '../chain/range.ts';
import type { ChainBounds } from '../chain/range-part.ts';
import { cutSlice, parseSlice, requireFixedRange } from '../chain/slice.ts';
import { usage } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';

/** What a run is asked for. */
interface Asked {
  readonly range: string;
  /** `3/16`: the third of sixteen slices; undefined for all. */
  readonly slice?: string | undefined;
}

/**
 * The masterchain blocks that a run is asked for: the range, or one slice of it.
 *
 * @throws {UsageError} also if the slices of several machines would not fit together
 */
export async function resolveAsked(
  { range, slice }: Asked,
  chain: ChainBounds & { readonly openDays: readonly string[] },
): Promise<readonly Span[]> {
  const parts = parseRange(range);
  const asked = await resolveRange(parts, chain);
  if (slice === undefined) return asked;
  requireFixedRange(parts, asked, chain.openDays);
  return cutSlice(asked, parseSlice(slice), chain);
}

/** Refuses pipelines that have no blocks to cut: their keys are in the rows of all slices. @throws {UsageError} */
export function requireSliceable({ range, slice }: Asked, pipelines: readonly PipelineDef[]): void {
  if (slice === undefined) return;
  parseSlice(slice);
  const whole = pipelines.filter((pipeline) => !coversBlocks(pipeline)).map(({ name }) => name);
  if (whole.length === 0) return;
  throw usage('pipelines of blocks for --slice', whole.join(', '), {
    code: 'bad-slice',
    hint: `when all slices are done, once and without --slice: ${suggest('run', whole.join(' '), { range })}`,
  });
}
