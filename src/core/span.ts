import { formatCount } from './format.ts';

/** An inclusive range of masterchain seqnos, the unit of progress: `from` and `to` both belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How many seqnos a span holds. */
export function spanSize(span: Span): number {
  return span.to - span.from + 1;
}

/** How many seqnos a list of disjoint spans holds. */
export function totalSize(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + spanSize(span), 0);
}

/** Sorted, disjoint spans that cover exactly what the given ones cover; neighbours are joined. */
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

/** What of `asked` is not covered by `done`: the one value that decides what a run still has to fetch. */
export function subtractSpans(asked: readonly Span[], done: readonly Span[]): readonly Span[] {
  const holes = unionSpans(done);
  const rest: Span[] = [];
  let first = 0;
  for (const { from: start, to } of unionSpans(asked)) {
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

/** What two lists of spans have in common. */
export function intersectSpans(a: readonly Span[], b: readonly Span[]): readonly Span[] {
  return subtractSpans(a, subtractSpans(a, b));
}

/** Whether two lists of spans have a block in common. */
export function haveCommon(a: readonly Span[], b: readonly Span[]): boolean {
  return a.some(({ from, to }) => b.some((other) => other.from <= to && other.to >= from));
}

/** From the first to the last block of some spans; undefined without any. */
export function hullOf(spans: readonly Span[]): Span | undefined {
  if (spans.length === 0) return undefined;
  return { from: least(spans.map(({ from }) => from)), to: greatest(spans.map(({ to }) => to)) };
}

/** `1000:1499`, or `1000` for a span of one. */
export function formatSpan(span: Span): string {
  return span.from === span.to ? String(span.from) : `${span.from}:${span.to}`;
}

/** `1000:1499,1600`, or `nothing` for an empty list. Read as a range it means the same: `3,700` would be 3700. */
export function formatSpans(spans: readonly Span[]): string {
  const [first, next] = spans;
  if (first === undefined) return 'nothing';
  const looksGrouped = next !== undefined && first.to < 1000 && next.from >= 100 && next.from < 1000;
  const begin = looksGrouped ? `${first.from}:${first.to}` : formatSpan(first);
  return [begin, ...spans.slice(1).map(formatSpan)].join(',');
}

/** Spans that a line for people names; more are counted. */
const MOST_SPANS = 8;

/** As {@link formatSpans}, for people: `2,4,6,8,10,12,14,16 ... and 3,996 more spans, 4,100 blocks`. */
export function shortSpans(spans: readonly Span[]): string {
  // A tail of one or two is as short as its count.
  if (spans.length <= MOST_SPANS + 2) return formatSpans(spans);
  const rest = spans.slice(MOST_SPANS);
  const more = `${formatCount(rest.length)} more spans, ${formatCount(totalSize(rest))} blocks`;
  return `${formatSpans(spans.slice(0, MOST_SPANS))} ... and ${more}`;
}

/** The least of any number of values: as arguments of one call, a hundred thousand overflow the stack. */
export function least(values: Iterable<number>, start = Infinity): number {
  let found = start;
  for (const value of values) if (value < found) found = value;
  return found;
}

/** The greatest of any number of values. */
export function greatest(values: Iterable<number>, start = -Infinity): number {
  let found = start;
  for (const value of values) if (value > found) found = value;
  return found;
}
