import { parseRange, resolveRange } from '../chain/range.ts';
import type { ChainBounds } from '../chain/range-part.ts';
import { cutSlice, parseSlice, requireFixedRange } from '../chain/slice.ts';
import { usage } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';

/** The range and slice of a run. */
interface RangeOptions {
  readonly range: string;
  /** `3/16`: the third of sixteen slices; undefined for all. */
  readonly slice?: string | undefined;
}

/**
 * The requested masterchain blocks: the range, or one slice of it.
 *
 * @throws {UsageError} also for slices of a range without fixed ends, which would differ between machines
 */
export async function resolveRequested(
  { range, slice }: RangeOptions,
  chain: ChainBounds & { readonly openDays: readonly string[] },
): Promise<readonly Span[]> {
  const parts = parseRange(range);
  const requested = await resolveRange(parts, chain);
  if (slice === undefined) return requested;
  requireFixedRange(parts, requested, chain.openDays);
  return cutSlice(requested, parseSlice(slice), chain);
}

/** Refuses `--slice` for pipelines without blocks: the rows of all slices have their keys. @throws {UsageError} */
export function requireSliceable({ range, slice }: RangeOptions, pipelines: readonly PipelineDef[]): void {
  if (slice === undefined) return;
  parseSlice(slice);
  const whole = pipelines.filter((pipeline) => !coversBlocks(pipeline)).map(({ name }) => name);
  if (whole.length === 0) return;
  throw usage(
    'pipelines of blocks for --slice',
    whole.join(', '),
    `when all slices are done, once and without --slice: ${suggest('run', whole.join(' '), { range })}`,
  );
}
