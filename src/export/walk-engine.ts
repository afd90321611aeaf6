import PQueue from 'p-queue';
import type { Span } from '../core/span.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { requestMeter } from './request-meter.ts';
import { runSpan } from './span-task.ts';
import type { BlockProblem } from './span-walk.ts';
import type { EngineContext } from './walk-context.ts';
import type { Prepare } from './walk-kind.ts';
import { walkKindOf } from './walk-kinds.ts';
import { widenedContext } from './widen-entry.ts';

/** Missing blocks, and entries to read again because their rows could still change when they were read. */
export interface Due {
  readonly missing: readonly Span[];
  readonly again: readonly LedgerEntry[];
}

/**
 * Fetches what is due, as the walk kind of the pipeline does it.
 *
 * @returns what could not be fetched
 * @throws what made the source unusable
 */
export async function walkDue(context: EngineContext, { missing, again }: Due): Promise<readonly BlockProblem[]> {
  const { registry, pipeline, stop } = context;
  const kind = walkKindOf(registry, pipeline);
  const walkSpan = kind.walkSpan?.bind(kind);
  const problems: BlockProblem[] = [];
  if (walkSpan !== undefined) {
    for (const entry of again) {
      if (stop.aborted) return problems;
      const own = widenedContext(context, entry);
      problems.push(...(await runWalk(own, (running) => [() => walkSpan(running, entry.span)], [entry.id])));
    }
  }
  const widened = { ...context, pipeline: kind.widen?.(context) ?? pipeline };
  return [...problems, ...(await runWalk(widened, (own) => kind.plan(own, missing)))];
}

/**
 * Runs the spans of a walk, some side by side.
 *
 * @param replaces entries that each span replaces
 * @returns what could not be fetched, in order
 * @throws what made the source unusable, after committing what was complete by then
 */
async function runWalk(
  given: EngineContext,
  plan: (context: EngineContext) => AsyncIterable<Prepare> | Iterable<Prepare>,
  replaces: readonly string[] = [],
): Promise<readonly BlockProblem[]> {
  const problems: BlockProblem[] = [];
  const failed = new AbortController();
  // A failure of the source in one span ends all: nothing more is planned or requested, and complete spans are committed.
  const context = { ...given, stop: AbortSignal.any([given.stop, failed.signal]) };
  const tasks = new PQueue({ concurrency: context.loaders.spans });
  const meter = requestMeter(context.source);
  let failure: { readonly error: unknown } | undefined;
  const run = async (prepare: Prepare): Promise<void> => {
    try {
      const walk = await prepare();
      if ('error' in walk) problems.push(walk);
      else problems.push(...(await runSpan(context, meter, walk, replaces)));
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
