import { intersectSpans, type Span, shortSpans, subtractSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { doneFor, doneSpans } from '../warehouse/index.ts';
import type { SpanSink, WalkEvent } from './walk-context.ts';

/** One pipeline of a run. */
export interface Needing {
  readonly pipeline: PipelineDef;
  /** All pipelines of the run. */
  readonly pipelines: readonly PipelineDef[];
  readonly sink: Pick<SpanSink, 'ledger'>;
  readonly asked: readonly Span[];
}

/** Requested blocks that are not done; if a pipeline needs others, only blocks that those have. */
export function missingSpans(run: Needing): readonly Span[] {
  const { pipeline, sink, asked } = run;
  const ledger = sink.ledger();
  const missing = subtractSpans(asked, doneFor(ledger, pipeline));
  return neededBy(run).reduce((spans, { name }) => intersectSpans(spans, doneSpans(ledger, name)), missing);
}

/** Reports that no missing block can be read, because the pipelines that this one needs lack them. */
export function reportSkipped(run: Needing, report: (event: WalkEvent) => void): void {
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
