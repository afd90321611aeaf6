import type { IndexEnds } from '../chain/index-head.ts';
import { WalkError } from '../core/errors.ts';
import { formatSpans, type Span, subtractSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { WalkEvent } from './walk-context.ts';

/** Minimum time between masterchain blocks. */
const BLOCK_MS = 200;
const DEFAULT_WAIT_MS = 60_000;

/** The blocks that the index has, or can have within the wait time. Reports the others. */
export function splitReachable(
  pipeline: PipelineDef,
  spans: readonly Span[],
  ends: IndexEnds,
  waitMs: number | undefined,
  report: (event: WalkEvent) => void,
): readonly Span[] {
  const horizon = ends.last + Math.ceil((waitMs ?? DEFAULT_WAIT_MS) / BLOCK_MS);
  const reportAll = (beyond: readonly Span[], code: string, fact: string, hint: string): void => {
    for (const { from, to } of beyond) {
      const message = `walk ${pipeline.name} ${formatSpans([{ from, to }])}: ${fact}`;
      const error = new WalkError(message, { code, hint });
      report({ event: 'problem', pipeline: pipeline.name, from, to, code, message: `${error.message}; hint: ${hint}` });
    }
  };
  const old = subtractSpans(spans, [{ from: ends.first, to: Number.MAX_SAFE_INTEGER }]);
  reportAll(old, 'below-first', `the index begins at block ${ends.first}`, `start the range at ${ends.first}`);
  const late = subtractSpans(spans, [{ from: 0, to: horizon }]);
  reportAll(late, 'above-head', `the head is ${ends.last}, too far below to wait`, 'run it again later');
  return subtractSpans(spans, [...old, ...late]);
}
