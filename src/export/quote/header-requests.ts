import { type Span, spanSize } from '../../core/span.ts';
import { HEADER_ROWS, halve, type LtWindow, planEvenWindows } from '../lt-windows.ts';
import type { WalkMode } from '../walk-context.ts';
import { FEW_BLOCKS, HEADER_SPAN, PROBE_BLOCKS } from '../walks/masterchain-walk.ts';
import { exactly, type Figure, mean, sumOf, windowRequests } from './figure.ts';
import type { HeaderSample } from './header-sample.ts';

const PAGE = 1000;

/** Requests for the headers of a range. */
export interface HeaderRequests {
  /** For the states of the shards at the ends of spans. */
  readonly states: number;
  readonly blocks: Figure;
}

/**
 * What the headers of a range take: the walk over them in thought. It plans its windows by the density of the first blocks, so where
 * later ones are denser, its windows are full and asked for in halves.
 *
 * @param first first masterchain block of the index
 */
export function headerRequests(span: Span, sample: HeaderSample, mode: WalkMode, first: number): HeaderRequests {
  const figures: Figure[] = [];
  let states = 1;
  let { from } = span;
  if (from === first) {
    figures.push(exactly(1));
    from++;
  }
  if (from > span.to) return { states, blocks: sumOf(figures) };
  const starts = sample.isWhole ? sortedStarts(sample) : undefined;
  let density: number | undefined;
  while (from <= span.to) {
    const size = mode !== 'masterchain' && density === undefined ? PROBE_BLOCKS : HEADER_SPAN;
    const part = { from, to: Math.min(span.to, from + size - 1) };
    const blocks = spanSize(part);
    states++;
    if (mode === 'masterchain' || (mode === 'auto' && blocks <= FEW_BLOCKS)) figures.push(exactly(blocks));
    else {
      const range = ltOf(part, span, sample);
      const windows = planEvenWindows(range, blocks * (density ?? sample.shards), HEADER_ROWS);
      figures.push(
        starts === undefined
          ? windowRequests(windows.length, rowsOfWindows(sample, part, range, windows.length))
          : exactly(windows.reduce((sum, window) => sum + requestsOf(window, starts), 0)),
      );
    }
    if (blocks >= PROBE_BLOCKS / 2) {
      density =
        density === undefined && sample.headersAtStart !== undefined ? sample.headersAtStart : densityOf(part, sample);
    }
    from = part.to + 1;
  }
  return { states, blocks: sumOf(figures) };
}

function sortedStarts({ headers }: HeaderSample): readonly bigint[] {
  return [...headers.values()]
    .flatMap((group) => group.map(({ startLt }) => startLt))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function requestsOf(window: LtWindow, starts: readonly bigint[]): number {
  const rows = position(starts, window.to + 1n) - position(starts, window.from);
  const halves = rows < PAGE ? undefined : halve(window);
  return halves === undefined ? 1 : 1 + requestsOf(halves[0], starts) + requestsOf(halves[1], starts);
}

/** How many of some sorted logical times are before one. */
function position(sorted: readonly bigint[], lt: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as bigint) < lt) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The logical time of a part of a range: blocks come evenly. */
function ltOf(part: Span, whole: Span, { range }: HeaderSample): LtWindow {
  const width = range.to - range.from;
  const blocks = BigInt(spanSize(whole));
  return {
    from: range.from + (width * BigInt(part.from - whole.from)) / blocks,
    to: range.from + (width * BigInt(part.to + 1 - whole.from)) / blocks,
  };
}

/** Rows of one of some equal windows, at each stretch of the sample inside a part; at all of them where there is none. */
function rowsOfWindows(sample: HeaderSample, part: Span, { from, to }: LtWindow, windows: number): readonly number[] {
  const width = Number(to - from) / windows;
  const inside = sample.stretches.filter((stretch) => stretch.from <= part.to && stretch.to >= part.from);
  return (inside.length > 0 ? inside : sample.stretches).map((stretch) => {
    const perBlock = densityOf(stretch, sample);
    return (perBlock * spanSize(part) * width) / Number(to - from);
  });
}

/** Headers of a masterchain block in a part of a range, as far as the sample tells. */
function densityOf(part: Span, { headers, stretches, headersPerBlock }: HeaderSample): number {
  const counts = stretches.flatMap((stretch) => {
    const from = Math.max(part.from, stretch.from);
    const to = Math.min(part.to, stretch.to);
    if (from > to) return [];
    let count = 0;
    for (let seqno = from; seqno <= to; seqno++) count += headers.get(seqno)?.length ?? 0;
    return [count / (to - from + 1)];
  });
  return counts.length === 0 ? headersPerBlock : mean(counts);
}
