import { usage } from '../core/errors.ts';
import { blockAt, formatSpans, intersectSpans, type Span, totalSize } from '../core/span.ts';
import { addDays, dateAt } from '../core/time-zone.ts';
import type { ChainBounds, RangeEnd, RangePart } from './range-part.ts';

/** One of several parts of a range, counted from 1. */
export interface Slice {
  readonly index: number;
  readonly count: number;
}

const MAX_SLICES = 10_000;

/** Parses `3/16`. @throws {UsageError} */
export function parseSlice(text: string): Slice {
  const [, index, count] = /^(\d{1,5})\/(\d{1,5})$/.exec(text.trim())?.map(Number) ?? [];
  if (index !== undefined && count !== undefined && index >= 1 && index <= count && count <= MAX_SLICES) {
    return { index, count };
  }
  throw usage(
    'a slice such as 3/16, from 1/16 to 16/16',
    JSON.stringify(text),
    text.trim().startsWith('0/') ? 'the first slice is 1' : '--slice 1/16',
  );
}

/**
 * Refuses a range that depends on when it is resolved: its slices would overlap, or leave blocks out.
 *
 * @param requested the range as resolved now
 * @param openDays days and times of the range that are not over
 * @throws {UsageError}
 */
export function requireFixedRange(
  parts: readonly RangePart[],
  requested: readonly Span[],
  openDays: readonly string[],
): void {
  const [day] = openDays;
  const moving = movingPart(parts)?.text ?? (day === undefined ? undefined : `${day}, which is not over`);
  if (moving === undefined) return;
  throw usage(
    'a range with fixed ends for slices',
    moving,
    `give all slices the same blocks, such as --range ${formatSpans(requested)}`,
  );
}

/** A part of a range that means other blocks later: it depends on the head or on today. */
export function movingPart(parts: readonly RangePart[]): RangePart | undefined {
  return parts.find(({ from, to }) => isMoving(from, to));
}

function isMoving(from: RangeEnd, to: RangeEnd): boolean {
  if (to.kind === 'open' || from.kind === 'days-ago' || to.kind === 'days-ago') return true;
  return from.kind === 'open' && to.kind === 'ahead';
}

/**
 * The blocks of one slice. All slices of a range are disjoint, have at least one block and make up the range. Each follows from range and
 * number alone, so machines need no coordination. They have about equally many blocks, but begin with a UTC day if one begins less than
 * half a slice away, so that few days are shared between slices.
 *
 * @throws {UsageError} if there are fewer blocks than slices
 */
export async function cutSlice(
  requested: readonly Span[],
  { index, count }: Slice,
  chain: Pick<ChainBounds, 'blockTime' | 'firstOfDay'>,
): Promise<readonly Span[]> {
  const total = totalSize(requested);
  if (total < count) {
    throw usage(`at least ${count} blocks for ${count} slices`, total, `--slice 1/${total} to ${total}/${total}`);
  }
  const first = await cutBefore(requested, index - 1, count, chain);
  const next = await cutBefore(requested, index, count, chain);
  return intersectSpans(requested, [{ from: blockAt(requested, first), to: blockAt(requested, next - 1) }]);
}

/** Number of blocks in the first `index` slices. */
async function cutBefore(
  requested: readonly Span[],
  index: number,
  count: number,
  chain: Pick<ChainBounds, 'blockTime' | 'firstOfDay'>,
): Promise<number> {
  const total = totalSize(requested);
  if (index === 0 || index === count) return index === 0 ? 0 : total;
  const even = Math.floor((total * index) / count);
  const date = dateAt(await chain.blockTime(blockAt(requested, even)), 'UTC');
  const last = dateAt(await chain.blockTime(blockAt(requested, total - 1)), 'UTC');
  let best = even;
  // Two cuts never meet: each moves by less than half of the smallest slice.
  let least = Math.floor(total / count) / 2;
  for (const day of date < last ? [date, addDays(date, 1)] : [date]) {
    const offset = blocksBefore(requested, await chain.firstOfDay(day));
    if (Math.abs(offset - even) >= least) continue;
    least = Math.abs(offset - even);
    best = offset;
  }
  return best;
}

function blocksBefore(requested: readonly Span[], seqno: number): number {
  return totalSize(intersectSpans(requested, [{ from: 0, to: seqno - 1 }]));
}
