import { formatSpan, hullOf } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/** Blocks of a command that is suggested for an empty warehouse. */
const NEWEST = '-1000:';

/** The command that exports a pipeline for all blocks of a warehouse, as it can be pasted. */
export function suggestRun(ledger: readonly LedgerEntry[], registry: Registry, pipeline: PipelineDef): string {
  const { walk, name } = pipeline;
  if (walk.kind === 'snapshot' && walk.parents === undefined) return suggest('run', name);
  const lasting = new Set(registry.lasting);
  const ofBlocks = ledger.filter((entry) => entry.mart === undefined && lasting.has(entry.pipeline));
  const hull = hullOf(ofBlocks.flatMap(spansOf));
  return suggest('run', name, { range: hull === undefined ? NEWEST : formatSpan(hull) });
}
