import { formatCount } from './format.ts';

/** An inclusive range of masterchain seqnos, the unit of progress. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Number of seqnos in a span. */
export function spanSize(span: Span): number {
  return span.to - span.from + 1;
}

/** Number of seqnos in disjoint spans. */
export function totalSize(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + spanSize(span), 0);
}

/** The same seqnos as sorted, disjoint spans; adjacent ones are joined. */
export function unionSpans(spans: readonly Span[]): readonly Span[] {
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const joined: Span[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && span.from <= last.to + 1) {
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else {
      joined.push(span);
    }
  }
  return joined;
}

/** The part of `spans` that `done` does not cover. */
export function subtractSpans(spans: readonly Span[], done: readonly Span[]): readonly Span[] {
  const holes = unionSpans(done);
  const rest: Span[] = [];
  let first = 0;
  for (const { from: start, to } of unionSpans(spans)) {
    let from = start;
    while ((holes[first]?.to ?? Infinity) < from) first++;
    for (let at = first; ; at++) {
      const hole = holes[at];
      if (hole === undefined || hole.from > to) break;
      if (hole.from > from) rest.push({ from, to: hole.from - 1 });
      from = hole.to + 1;
    }
    if (from <= to) rest.push({ from, to });
  }
  return rest;
}

/** The intersection of two lists of spans. */
export function intersectSpans(a: readonly Span[], b: readonly Span[]): readonly Span[] {
  return subtractSpans(a, subtractSpans(a, b));
}

/** True if two lists of spans intersect. */
export function haveCommon(a: readonly Span[], b: readonly Span[]): boolean {
  return a.some(({ from, to }) => b.some((other) => other.from <= to && other.to >= from));
}

/** Both halves of a span; none for one of a single seqno. */
export function halvesOf({ from, to }: Span): readonly Span[] {
  const middle = Math.floor((from + to) / 2);
  return from === to
    ? []
    : [
        { from, to: middle },
        { from: middle + 1, to },
      ];
}

/** The first number for which a condition is true that is true for all after it, too. The last one is not tested. */
export async function leastWhere({ from, to }: Span, isTrue: (number: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

/** The first blocks of sorted, disjoint spans. */
export function firstBlocks(spans: readonly Span[], count: number): readonly Span[] {
  const first: Span[] = [];
  let left = count;
  for (const span of spans) {
    if (left <= 0) break;
    const size = Math.min(left, spanSize(span));
    first.push({ from: span.from, to: span.from + size - 1 });
    left -= size;
  }
  return first;
}

/** The block at a position of sorted, disjoint spans, from 0. */
export function blockAt(spans: readonly Span[], position: number): number {
  let left = position;
  for (const span of spans) {
    if (left < spanSize(span)) return span.from + left;
    left -= spanSize(span);
  }
  throw new RangeError(`expected a position in ${totalSize(spans)} blocks, got ${position}`);
}

/** The blocks of some spans. */
export function seqnosOf(spans: readonly Span[]): readonly number[] {
  return spans.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
}

/** The span from the first to the last block; undefined for no spans. */
export function hullOf(spans: readonly Span[]): Span | undefined {
  if (spans.length === 0) return undefined;
  return { from: least(spans.map(({ from }) => from)), to: greatest(spans.map(({ to }) => to)) };
}

/** From the first to the last block of some spans; nothing without any. */
export function wholeRange(spans: readonly Span[]): readonly Span[] {
  const hull = hullOf(spans);
  return hull === undefined ? [] : [hull];
}

/** `1000:1499`, or `1000` for a span of one. */
export function formatSpan(span: Span): string {
  return span.from === span.to ? String(span.from) : `${span.from}:${span.to}`;
}

/** `1000:1499,1600`, or `nothing` for an empty list. Can be parsed as a range, so it avoids `3,700`, which looks like 3700. */
export function formatSpans(spans: readonly Span[]): string {
  const [first, next] = spans;
  if (first === undefined) return 'nothing';
  const looksGrouped = next !== undefined && first.to < 1000 && next.from >= 100 && next.from < 1000;
  const begin = looksGrouped ? `${first.from}:${first.to}` : formatSpan(first);
  return [begin, ...spans.slice(1).map(formatSpan)].join(',');
}

/** Maximum number of spans that are listed; the others are counted. */
const MAX_SPANS = 8;

/** As {@link formatSpans}, shortened: `2,4,6,8,10,12,14,16 ... and 3,996 more spans, 4,100 blocks`. */
export function shortSpans(spans: readonly Span[]): string {
  // One or two more spans are as short as their count.
  if (spans.length <= MAX_SPANS + 2) return formatSpans(spans);
  const rest = spans.slice(MAX_SPANS);
  const more = `${formatCount(rest.length)} more spans, ${formatCount(totalSize(rest))} blocks`;
  return `${formatSpans(spans.slice(0, MAX_SPANS))} ... and ${more}`;
}

/** The minimum. `Math.min(...values)` would overflow the stack for 100,000 values. */
export function least(values: Iterable<number>): number {
  let found = Infinity;
  for (const value of values) if (value < found) found = value;
  return found;
}

/** The maximum. */
export function greatest(values: Iterable<number>, start = -Infinity): number {
  let found = start;
  for (const value of values) if (value > found) found = value;
  return found;
}
