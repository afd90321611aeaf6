import PQueue from 'p-queue';
import { RequestMeter } from './request-meter.ts';
import { runSpan } from './span-task.ts';
import type { BlockProblem, SpanWalk } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';

/** A span, ready to be brought in; or what is known to be wrong with it. */
export type Prepare = () => Promise<SpanWalk | BlockProblem>;

/** Hands out the spans of a walk in order; each is planned when there is room for it. */
export type PlanSpans = (context: WalkContext) => AsyncIterable<Prepare> | Iterable<Prepare>;

/**
 * Brings the spans of a walk in, some side by side.
 *
 * @returns what could not be had, in order
 * @throws what made the source unusable, after what was whole by then is committed
 */
export async function runWalk(given: WalkContext, plan: PlanSpans): Promise<readonly BlockProblem[]> {
  const problems: BlockProblem[] = [];
  const failed = new AbortController();
  // What cannot go on for one span ends them all: nothing more is planned or asked for, and what is whole is committed.
  const context = { ...given, stop: AbortSignal.any([given.stop, failed.signal]) };
  const tasks = new PQueue({ concurrency: context.loaders.spans });
  const meter = new RequestMeter(context.source);
  let failure: { readonly error: unknown } | undefined;
  const run = async (prepare: Prepare): Promise<void> => {
    try {
      const walk = await prepare();
      if ('error' in walk) problems.push(walk);
      else problems.push(...(await runSpan(context, meter, walk)));
    } catch (error) {
      failure ??= { error };
      failed.abort();
    }
  };
  try {
    for await (const prepare of plan(context)) {
      if (context.stop.aborted) break;
      void tasks.add(() => run(prepare));
      await tasks.onSizeLessThan(1);
      if (context.stop.aborted) break;
    }
  } finally {
    await tasks.onIdle();
  }
  if (failure !== undefined) throw failure.error;
  return problems.sort((a, b) => a.span.from - b.span.from);
}
