import { haveCommon, intersectSpans, type Span, unionSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { bindsRows, type ForgetPlan, type ForgetPlanOptions, isSplittable, planForget } from './plan-forget.ts';

/** Old rows that cannot be removed yet. */
export interface RetainedRows {
  readonly pipeline: string;
  /** `crossing`: the entry also has newer rows and can only be removed completely; `needed`: other pipelines need the rows. */
  readonly why: 'crossing' | 'needed';
  readonly spans: readonly Span[];
  /** For `needed`: the pipelines that need the rows. */
  readonly by?: readonly string[];
}

export interface RetentionPlan extends ForgetPlan {
  readonly retained: readonly RetainedRows[];
  /** Pipelines whose rows belong to no block, and are not removed. */
  readonly withoutBlocks: readonly string[];
}

export interface RetentionPlanOptions extends Omit<ForgetPlanOptions, 'spans'> {
  /** Last masterchain block that is too old; undefined if there is none. */
  readonly upTo: number | undefined;
}

/**
 * Plans the removal of old rows. Rows that cannot be removed yet are reported, not refused.
 *
 * @throws {UsageError} for an unknown pipeline
 */
export function planRetention(options: RetentionPlanOptions): RetentionPlan {
  const { ledger, lost, registry, marts, upTo = -1 } = options;
  const spans: readonly Span[] = upTo < 0 ? [] : [{ from: 0, to: upTo }];
  const chosen = [...new Set(options.names)].map((name) => registry.pipeline(name));
  const old = ledger.filter((entry) => haveCommon(spansOf(entry), spans));
  const crossing = chosen.filter(bindsRows).flatMap((pipeline) => crossingEntries(pipeline, old, spans));
  const needed: RetainedRows[] = [];
  let going = chosen.filter(bindsRows);
  for (;;) {
    const remaining = old.filter(
      (entry) => crossing.includes(entry) || !going.some(({ name }) => name === entry.pipeline),
    );
    const holding = going
      .map(({ name }) => ({
        name,
        by: registry.pipelines.filter((each) => needs(each, name) && hasEntries(remaining, each)),
      }))
      .find(({ name, by }) => by.length > 0 && old.some(({ pipeline }) => pipeline === name));
    if (holding === undefined) break;
    const own = old.filter(({ pipeline }) => pipeline === holding.name);
    needed.push({
      ...{ pipeline: holding.name, why: 'needed', by: holding.by.map(({ name }) => name) },
      spans: intersectSpans(
        own.map(({ span }) => span),
        spans,
      ),
    });
    going = going.filter(({ name }) => name !== holding.name);
  }
  const names = going.map(({ name }) => name);
  const plan = planForget({
    ledger: ledger.filter((entry) => !crossing.includes(entry)),
    lost,
    registry,
    marts,
    names,
    spans,
  });
  const withoutBlocks = chosen.filter((each) => !bindsRows(each) && hasEntries(ledger, each)).map(({ name }) => name);
  return { ...plan, retained: [...retainedBy(crossing), ...needed], withoutBlocks };
}

/** Entries with both old and newer rows that cannot be separated. */
function crossingEntries(pipeline: PipelineDef, old: readonly LedgerEntry[], spans: readonly Span[]) {
  return old.filter((entry) => entry.pipeline === pipeline.name && !isSplittable(pipeline, entry, spans));
}

function needs(pipeline: PipelineDef, name: string): boolean {
  return bindsRows(pipeline) && pipeline.needs.includes(name);
}

function hasEntries(entries: readonly LedgerEntry[], { name }: PipelineDef): boolean {
  return entries.some(({ pipeline }) => pipeline === name);
}

function retainedBy(crossing: readonly LedgerEntry[]): readonly RetainedRows[] {
  return [...new Set(crossing.map(({ pipeline }) => pipeline))].map((pipeline) => ({
    ...{ pipeline, why: 'crossing' as const },
    spans: unionSpans(crossing.filter((entry) => entry.pipeline === pipeline).flatMap(spansOf)),
  }));
}
