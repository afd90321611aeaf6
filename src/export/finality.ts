import { type IndexHead, requireHead } from '../chain/index-head.ts';
import { greatest, intersectSpans, type Span, unionSpans } from '../core/span.ts';
import { lookBackOf } from '../declare/pipeline.ts';
import { doneSpans } from '../warehouse/index.ts';
import type { WalkContext } from './walk-context.ts';

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

/** Checks the heads by which rows are called final, each once; a lower one needs no check. */
export class HeadCheck {
  private checked = -1;

  /**
   * Requires the head that makes rows of some blocks final. They would not be read again, so it is not enough that the source names it: the
   * warehouse has the header of a block that is as far from them, or the source shows that of the head.
   *
   * @throws {SourceError} retryable, as {@link requireHead}
   */
  async require(
    { pipeline, sink, registry, source, stop }: Pick<WalkContext, 'pipeline' | 'sink' | 'registry' | 'source' | 'stop'>,
    spans: readonly Span[],
    { last, head }: IndexHead,
  ): Promise<void> {
    const lookBack = lookBackOf(pipeline);
    const final = intersectSpans(spans, [{ from: 0, to: last - lookBack }]);
    if (lookBack === 0 || final.length === 0 || last <= this.checked) return;
    const needed = greatest(final.map(({ to }) => to)) + lookBack;
    const known = doneSpans(sink.ledger(), registry.playing('headers').pipeline.name);
    if (known.some(({ to }) => to >= needed)) return;
    await requireHead(source, head, { ending: stop });
    this.checked = last;
  }
}
