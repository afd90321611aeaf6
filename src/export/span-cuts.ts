import { intersectSpans, type Span, unionSpans } from '../core/span.ts';

/** Cuts spans at the last final block, so that only the rest is read again. */
export function cutAtFinal(spans: readonly Span[], lookBack: number, head: number): readonly Span[] {
  const final = head - lookBack;
  const isCut = lookBack > 0 && spans.some(({ from, to }) => from <= final && to > final);
  if (!isCut) return unionSpans(spans);
  return [
    ...intersectSpans(spans, [{ from: 0, to: final }]),
    ...intersectSpans(spans, [{ from: final + 1, to: Number.MAX_SAFE_INTEGER }]),
  ];
}

/** The newest block, as of which rows are read that may change until they are `lookBack` blocks behind it; undefined if none does. */
export function readAsOf(lookBack: number, head: number): Span | undefined {
  return lookBack > 0 ? { from: head, to: head } : undefined;
}

/** How far neighbours are joined. */
export interface NearLimits {
  /** Maximum blocks between two of them. */
  readonly hole: number;
  /** Maximum blocks from the first one to the last. */
  readonly blocks: number;
}

/** From the first of sorted spans, or its first blocks, to the last of its near neighbours. */
export function nearSpan([first, ...others]: readonly [Span, ...Span[]], { hole, blocks }: NearLimits): Span {
  const { from } = first;
  let { to } = first;
  for (const next of others) {
    if (next.from - to - 1 > hole || next.from - from >= blocks) break;
    to = next.to;
  }
  return { from, to: Math.min(to, from + blocks - 1) };
}
