import { type DaySpan, isFullDay } from '../chain/day-spans.ts';
import { intersectSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import type { ForgottenSpans, LedgerEntry } from '../warehouse/index.ts';
import { describeForgotten } from '../warehouse/query/left-out-gaps.ts';
import type { MartDef } from './load-marts.ts';
import { pipelinesBehind } from './mart-inputs.ts';

/** A day with an earlier build. */
export interface BuiltDay {
  readonly date: string;
  /** Blocks of the day, if the warehouse has headers of it. */
  readonly day: DaySpan | undefined;
  readonly before: LedgerEntry;
}

/** True if inputs of a day were forgotten, so that rebuilding it would lose rows. `forgotten`: of the pipelines behind the mart. */
export function isForgotten(forgotten: readonly ForgottenSpans[], { date, day, before }: BuiltDay): boolean {
  return forgotten.some(({ spans, days }) => {
    if (day !== undefined && isFullDay(day)) return intersectSpans(spans, [day]).length > 0;
    if (days === undefined) return intersectSpans(spans, [before.span]).length > 0;
    return days.from <= date && date <= days.to;
  });
}

/** `transactions forgotten 1:4999; built from what is held`; undefined for a mart that keeps its days, or if nothing is missing. */
export function forgottenReason(
  forgotten: readonly ForgottenSpans[],
  registry: Registry,
  marts: readonly MartDef[],
  mart: MartDef,
): string | undefined {
  if (mart.isDaily) return undefined;
  const gone = describeForgottenInputs(forgotten, pipelinesBehind(registry, withoutDaily(marts), mart));
  return gone === undefined ? undefined : `${gone}; built from what is held`;
}

/** `transactions forgotten 1:4999`; undefined if nothing of the pipelines is forgotten. */
export function describeForgottenInputs(
  forgotten: readonly ForgottenSpans[],
  pipelines: readonly string[],
): string | undefined {
  const own = forgotten.filter(({ pipeline }) => pipelines.includes(pipeline));
  if (own.length === 0) return undefined;
  const names = [...new Set(own.map(({ pipeline }) => pipeline))].sort();
  return `${names.join(', ')} ${describeForgotten(own)}`;
}

/** Marts without daily ones, which keep their days when inputs are forgotten. */
function withoutDaily(marts: readonly MartDef[]): readonly MartDef[] {
  return marts.filter(({ isDaily }) => !isDaily);
}
