import { type Span, shortSpans, subtractSpans, unionSpans } from '../../core/span.ts';
import type { ForgottenRows, LedgerEntry } from '../store.ts';
import { doneSpans, spansOf } from './done-spans.ts';

/** Blocks of a pipeline whose rows were removed on purpose and not exported again. */
export interface ForgottenSpans extends ForgottenRows {
  readonly pipeline: string;
  readonly spans: readonly Span[];
}

/** The removals that are still true. */
export function stillForgotten(
  forgotten: readonly LedgerEntry[],
  ledger: readonly LedgerEntry[],
): readonly ForgottenSpans[] {
  const done = new Map<string, readonly Span[]>();
  return forgotten.flatMap((entry) => {
    const { pipeline, forgotten: told = { by: 'command' } } = entry;
    const own = done.get(pipeline) ?? doneSpans(ledger, pipeline);
    done.set(pipeline, own);
    const spans = subtractSpans(spansOf(entry), own);
    return spans.length === 0 ? [] : [{ ...told, pipeline, spans }];
  });
}

/** `forgotten 1010:1034`, or `forgotten by retention 1:4999`. */
export function describeForgotten(forgotten: readonly ForgottenSpans[]): string {
  const by = forgotten.every((each) => each.by === 'retention') ? ' by retention' : '';
  return `forgotten${by} ${shortSpans(unionSpans(forgotten.flatMap(({ spans }) => spans)))}`;
}
