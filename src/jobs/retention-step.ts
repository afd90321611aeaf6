import { formatCount } from '../core/format.ts';
import { groupBy } from '../core/group-by.ts';
import { shortSpans } from '../core/span.ts';
import type { RetainedRows } from '../verify/plan-retention.ts';
import type { RetentionOptions, RetentionReport } from '../verify/retention.ts';
import { type Fixed, runStep, type StepContext } from './job-step.ts';

/** The retention of a run; undefined for a job that keeps everything. Blocks exported by the run are kept, however old. */
export function retentionRequest({ job, effects }: StepContext, { now, range }: Fixed): RetentionOptions | undefined {
  const { retention, warehouse, network } = job;
  if (retention === undefined) return undefined;
  return { warehouse, network, ...retention, keepFrom: range.from, now: Math.min(now, effects.now()), effects };
}

/** Forgets rows older than the retention of the job. */
export async function forgetOldRows(context: StepContext, fixed: Fixed): Promise<void> {
  const { actions, stop, onStep } = context;
  const request = retentionRequest(context, fixed);
  if (request === undefined) return;
  const step = { kind: 'retention', name: `${request.keepDays} days` } as const;
  if (stop.aborted) return onStep({ ...step, status: 'skipped', seconds: 0, message: 'left to the next run' });
  await runStep(context, step, async () => {
    const { rows, ...outcome } = await actions.forgetOld(request);
    return { value: undefined, rows, message: describeRetention(outcome) };
  });
}

/** `transactions, blocks 1:4999 from before 2026-05-02; message_links 4000:6000 stays: it reaches into days that are kept`. */
export function describeRetention({
  event,
  firstDay,
  spans,
  retained,
  withoutBlocks,
  marts,
}: Omit<RetentionReport, 'rows'>): string {
  if (firstDay === undefined)
    return 'nothing is forgotten: the warehouse has no block headers, which give the days of rows';
  const groups = groupBy(Object.entries(spans), ([, own]) => shortSpans(own));
  const gone = [...groups].map(([text, group]) => `${group.map(([name]) => name).join(', ')} ${text}`);
  const verb = event === 'forgotten' ? 'forgotten' : 'would be forgotten';
  const day = `from before ${firstDay}`;
  return [
    gone.length === 0 ? `nothing ${day} can be forgotten` : `${gone.join('; ')} ${day} ${verb}`,
    ...retained.map(describeRetained),
    ...(withoutBlocks.length === 0 ? [] : [`${withoutBlocks.join(', ')} ${stays(withoutBlocks.length)}: of no block`]),
    ...(marts.length === 0 || gone.length === 0
      ? []
      : [`${formatCount(marts.length)} ${marts.length === 1 ? 'mart keeps its' : 'marts keep their'} days`]),
  ].join('; ');
}

function describeRetained({ pipeline, why, spans, by = [] }: RetainedRows): string {
  const reason = why === 'crossing' ? 'it reaches into days that are kept' : `${by.join(', ')} needs it`;
  return `${pipeline} ${shortSpans(spans)} stays: ${reason}`;
}

function stays(count: number): string {
  return count === 1 ? 'stays' : 'stay';
}
