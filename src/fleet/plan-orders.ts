import { type Span, subtractSpans, unionSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { doneFor, type LedgerEntry } from '../warehouse/index.ts';

/**
 * The blocks of each order: those that any of the pipelines lacks, cut at multiples of `blocks`. So a run that is killed and started again
 * makes the same orders of what is left.
 */
export function planOrders(
  ledger: readonly LedgerEntry[],
  pipelines: readonly PipelineDef[],
  asked: readonly Span[],
  blocks: number,
): readonly Span[] {
  const missing = unionSpans(pipelines.flatMap((pipeline) => subtractSpans(asked, doneFor(ledger, pipeline))));
  return missing.flatMap((span) => cutAtMultiples(span, blocks));
}

function cutAtMultiples({ from, to }: Span, blocks: number): readonly Span[] {
  const spans: Span[] = [];
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start - (start % blocks) + blocks - 1);
    spans.push({ from: start, to: end });
    start = end + 1;
  }
  return spans;
}
