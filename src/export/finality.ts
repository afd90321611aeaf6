import { intersectSpans, type Span, unionSpans } from '../core/span.ts';

/** Splits spans after the last final block: only the later part is read again. */
export function splitAtFinality(spans: readonly Span[], lookBack: number, head: number): readonly Span[] {
  const final = head - lookBack;
  const isCut = lookBack > 0 && spans.some(({ from, to }) => from <= final && to > final);
  if (!isCut) return unionSpans(spans);
  return [
    ...intersectSpans(spans, [{ from: 0, to: final }]),
    ...intersectSpans(spans, [{ from: final + 1, to: Number.MAX_SAFE_INTEGER }]),
  ];
}

/** The head, for rows that may change until they are `lookBack` blocks behind it; undefined if rows never change. */
export function readAsOf(lookBack: number, head: number): Span | undefined {
  return lookBack > 0 ? { from: head, to: head } : undefined;
}
