import { formatSpan } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import { isOfNow, type PipelineDef } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import type { LedgerEntry } from '../store.ts';
import { rangeOf } from './coverage.ts';

/** Range of a command that is suggested for an empty warehouse. */
const NEWEST = '-1000:';

/** The command that exports a pipeline for all blocks of a warehouse. */
export function suggestRun(ledger: readonly LedgerEntry[], registry: Registry, pipeline: PipelineDef): string {
  const { name } = pipeline;
  if (isOfNow(pipeline)) return suggest('run', name);
  const [range] = rangeOf({ ledger, registry });
  return suggest('run', name, { range: range === undefined ? NEWEST : formatSpan(range) });
}
