import { type Span, subtractSpans, unionSpans } from '../span.ts';
import type { LedgerEntry } from './store.ts';

/** Scope of a commit that lacks rows, or has wrong ones, which are asked for again: its span is not done. */
export const PARTIAL = 'part of the rows';

/** Whether a whole commit of a span takes the place of an entry: it lies inside, and its blocks are not done. */
export function givesWay({ verdict, scope, span }: LedgerEntry, to: Span): boolean {
  return (verdict === 'quarantined' || scope === PARTIAL) && subtractSpans([span], [to]).length === 0;
}

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

/** The done spans of a list whose rows nothing was compared with. `isCounted`: a pipeline that headers prove. */
export function unprovenSpans(ledger: readonly LedgerEntry[], pipeline: string, isCounted: boolean): readonly Span[] {
  if (isCounted) return [];
  const proven = ledger.filter(({ proof }) => proof !== undefined && proof !== 'none');
  return subtractSpans(doneSpans(ledger, pipeline), doneSpans(proven, pipeline));
}
