import PQueue from 'p-queue';
import type { Span } from '../core/span.ts';
import { linkSignals } from '../http/linked-signal.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { OpenCommit } from './open-commit.ts';
import type { WalkFailures } from './page-loading.ts';
import { MisfitRecords, RepeatedFailure } from './repeated-failure.ts';
import { requestMeter } from './request-meter.ts';
import { reportIncomplete, rewriteEntry } from './rewrite-entry.ts';
import type { EngineContext } from './run-context.ts';
import { SpanOrder, type SpanTurn } from './span-order.ts';
import { runSpan } from './span-task.ts';
import type { BlockProblem, SpanWalk } from './span-walk.ts';
import type { Prepare } from './walk-kind.ts';
import { walkKindOf } from './walk-kinds.ts';
import { SPANS, type SpanLoaderPort } from './workers/loader-port.ts';

/** Missing blocks, and entries to read again because their rows were not final. */
export interface Due {
  readonly missing: readonly Span[];
  readonly again: readonly LedgerEntry[];
}

/**
 * Fetches all that is due, with the walk kind of the pipeline.
 *
 * @returns blocks that could not be fetched
 * @throws the error that made the source unusable
 */
export async function walkDue(context: EngineContext, { missing, again }: Due): Promise<readonly BlockProblem[]> {
  const { registry, pipeline, stop } = context;
  const kind = walkKindOf(registry, pipeline);
  const walkSpan = kind.walkSpan?.bind(kind);
  const problems: BlockProblem[] = [];
  if (walkSpan !== undefined) {
    for (const entry of again) {
      if (stop.aborted) return problems;
      let own: readonly BlockProblem[] = [];
      const got = await rewriteEntry(context, entry, async (collecting) => {
        own = await runWalk(collecting, (running) => [() => walkSpan(running, entry.span)]);
      });
      problems.push(...own);
      if (got !== undefined && own.length === 0 && !stop.aborted) reportIncomplete(context, entry, got);
    }
  }
  const widened = { ...context, pipeline: kind.widen?.(context) ?? pipeline };
  return [...problems, ...(await runWalk(widened, (own) => kind.plan(own, missing)))];
}

/**
 * Runs the spans of a walk, some concurrently.
 *
 * @returns blocks that could not be fetched, in order
 * @throws the error that made the source unusable, after committing complete spans
 */
async function runWalk(
  given: EngineContext,
  plan: (context: EngineContext) => AsyncIterable<Prepare> | Iterable<Prepare>,
): Promise<readonly BlockProblem[]> {
  const problems: BlockProblem[] = [];
  // A failure of the source in one span ends all of them; complete spans are still committed.
  const link = linkSignals([given.stop]);
  const context = { ...given, stop: link.signal };
  const tasks = new PQueue({ concurrency: SPANS });
  const meter = requestMeter(context.source);
  const commits = new OpenCommit(context, meter);
  const order = new SpanOrder();
  const failures: WalkFailures = { repeated: new RepeatedFailure(), misfits: new MisfitRecords() };
  // Spans take loaders in order, so that no later span holds a loader that an earlier one needs.
  const starts = new PQueue({ concurrency: 1 });
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    link.abort(error);
  };
  const start = async (prepare: Prepare): Promise<BlockProblem | readonly [SpanWalk, SpanLoaderPort]> => {
    const walk = await prepare();
    if ('error' in walk) return walk;
    try {
      return [walk, await context.loaders.take(context.pipeline)];
    } catch (error) {
      walk.onEnd?.();
      throw error;
    }
  };
  const run = async (prepare: Prepare, turn: SpanTurn): Promise<void> => {
    try {
      const started = await starts.add(() => start(prepare));
      if ('error' in started) problems.push(started);
      else {
        const [walk, loader] = started;
        problems.push(...(await runSpan({ context, meter, commits, turn, ...failures, loader }, walk)));
      }
    } catch (error) {
      fail(error);
    } finally {
      turn.end();
    }
  };
  try {
    for await (const prepare of plan(context)) {
      if (context.stop.aborted) break;
      context.sink.requireKnown?.();
      const turn = order.next();
      void tasks.add(() => run(prepare, turn));
      await tasks.onSizeLessThan(1);
      if (context.stop.aborted) break;
    }
  } catch (error) {
    failure ??= { error };
  }
  await tasks.onIdle();
  await commits.close().catch(fail);
  link.release();
  if (failure !== undefined) throw failure.error;
  return problems.sort((a, b) => a.span.from - b.span.from);
}
