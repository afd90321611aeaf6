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
