import { type Span, unionSpans } from '../span.ts';
import type { LedgerEntry } from './store.ts';

/** The spans of a pipeline that count as done. */
export function doneSpans(ledger: readonly LedgerEntry[], pipeline: string): readonly Span[] {
  return unionSpans(
    ledger
      .filter((entry) => entry.pipeline === pipeline && entry.verdict === 'sealed' && entry.scope === undefined)
      .map((entry) => entry.span),
  );
}

/** The spans of a pipeline whose records could not be decoded. */
export function quarantinedSpans(ledger: readonly LedgerEntry[], pipeline: string): readonly Span[] {
  return unionSpans(
    ledger.filter((entry) => entry.pipeline === pipeline && entry.verdict === 'quarantined').map((entry) => entry.span),
  );
}
