import { type Span, subtractSpans } from '../../core/span.ts';
import type { ForgottenRows, LedgerEntry } from '../store.ts';
import { doneSpans, spansOf } from './done-spans.ts';

/** Blocks of a pipeline whose rows were removed on purpose and not exported again. */
export interface ForgottenSpans extends ForgottenRows {
  readonly pipeline: string;
  readonly spans: readonly Span[];
}

/** Removed spans that were not exported again. @param forgotten entries that record rows removed on purpose */
export function stillForgotten(
  forgotten: readonly LedgerEntry[],
  ledger: readonly LedgerEntry[],
): readonly ForgottenSpans[] {
  const done = new Map<string, readonly Span[]>();
  return forgotten.flatMap((entry) => {
    const { pipeline, forgotten: removal = { by: 'command' } } = entry;
    const own = done.get(pipeline) ?? doneSpans(ledger, pipeline);
    done.set(pipeline, own);
    const spans = subtractSpans(spansOf(entry), own);
    return spans.length === 0 ? [] : [{ ...removal, pipeline, spans }];
  });
}
