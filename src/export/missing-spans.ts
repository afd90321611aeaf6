import { intersectSpans, type Span, shortSpans, subtractSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { doneFor, doneSpans } from '../warehouse/index.ts';
import type { SpanSink, WalkEvent } from './walk-context.ts';

/** A pipeline among those of a run. */
export interface Needing {
  readonly pipeline: PipelineDef;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly sink: Pick<SpanSink, 'ledger'>;
  readonly asked: readonly Span[];
}

/** What is asked and not done; for a pipeline that needs others, only where those are done. */
export function missingSpans(run: Needing): readonly Span[] {
  const { pipeline, sink, asked } = run;
  const ledger = sink.ledger();
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return neededBy(run).reduce((spans, { name }) => intersectSpans(spans, doneSpans(ledger, name)), missing);
}

/** Tells that nothing of a pipeline can be read, because what it needs is done nowhere in what is missing. */
export function tellSkipped(run: Needing, report: (event: WalkEvent) => void): void {
  const { pipeline, sink, asked } = run;
  const ledger = sink.ledger();
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  const [first] = missing;
  const last = missing.at(-1);
  if (first === undefined || last === undefined) return;
  const lacking = neededBy(run).filter(({ name }) => subtractSpans(missing, doneSpans(ledger, name)).length > 0);
  const names = lacking.map(({ name }) => name).join(' and ');
  const message = `walk ${pipeline.name} ${shortSpans(missing)}: skipped, because ${names} ${lacking.length === 1 ? 'is' : 'are'} not done there`;
  report({ event: 'problem', pipeline: pipeline.name, from: first.from, to: last.to, code: 'need-not-done', message });
}

function neededBy({ pipeline, pipelines }: Needing): readonly PipelineDef[] {
  return pipelines.filter(({ name }) => pipeline.needs.includes(name));
}
